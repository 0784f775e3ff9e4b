// What pages release after failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../support/sockets.js'
import { microphoneCheck } from '../../../Web/playground/model/device-check.js'
import { store } from '../../../Web/playground/model/store.js'

test('a test of the microphone that fails closes the microphone', async (context) => {
  let isOpen = true
  const stream = { getTracks: () => [{ stop: () => (isOpen = false) }] }
  const { AudioContext: original } = globalThis
  const { mediaDevices } = navigator
  context.after(() => {
    globalThis.AudioContext = original
    Object.assign(navigator, { mediaDevices })
  })
  Object.assign(navigator, { mediaDevices: { getUserMedia: async () => stream } })
  globalThis.AudioContext = /** @type {any} */ (class { constructor() { throw new Error('too many contexts') } })
  await microphoneCheck.start('')
  assert.deepEqual([isOpen, store.state.check.state, store.state.check.message], [false, 'failed', 'too many contexts'])
})

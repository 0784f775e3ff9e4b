// What pages release after failures: the microphone, and the memory of recordings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../support/sockets.js'
import { microphoneCheck } from '../../../Web/playground/model/device-check.js'
import { store } from '../../../Web/playground/model/store.js'
import { Player } from '../../../Web/sessions/model/player.js'

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

test('recordings of which one cannot be played are all released', async (context) => {
  const urls = new Set()
  context.mock.method(URL, 'createObjectURL', (blob) => (urls.add(blob), blob))
  context.mock.method(URL, 'revokeObjectURL', (url) => urls.delete(url))
  const { Audio: original } = globalThis
  context.after(() => (globalThis.Audio = original))
  globalThis.Audio = /** @type {any} */ (class {
    error = { message: 'not Opus' }
    duration = 2
    set src(url) { queueMicrotask(() => (url === 'bad' ? this.onerror?.() : this.onloadedmetadata?.())) }
    load() {}
    pause() {}
    removeAttribute() {}
  })
  const player = new Player()
  await assert.rejects(player.load(/** @type {any} */ ([{ blob: 'good', offset: 0 }, { blob: 'bad', offset: 0 }, { blob: 'other', offset: 0 }])), /not Opus/)
  assert.deepEqual([urls.size, player.duration], [0, 0])
  await player.load(/** @type {any} */ ([{ blob: 'good', offset: 1 }]))
  assert.deepEqual([urls.size, player.duration], [1, 3])
  player.close()
  assert.equal(urls.size, 0)
})

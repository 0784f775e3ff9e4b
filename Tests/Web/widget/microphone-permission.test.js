// Whether the browser will ask its user for the microphone, also where it does not tell.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { microphonePermission } from '../../../Web/widget/model/microphone-permission.js'

const telling = (state) => ({ query: async () => ({ state }) })
const silent = { query: async () => { throw new TypeError('unknown') } }
const devices = (...list) => ({ enumerateDevices: async () => list.map(([kind, label]) => ({ kind, label })) })

test('what the browser tells counts', async () => {
  for (const state of ['granted', 'denied', 'prompt']) assert.equal(await microphonePermission(/** @type {any} */ ({ permissions: telling(state) })), state)
})

test('otherwise the names of microphones tell', async () => {
  const cases = [
    [devices(['audioinput', 'Built-in']), 'granted'], [devices(['audioinput', '']), 'prompt'], [devices(['audiooutput', 'Speaker']), 'prompt'],
    [devices(), 'prompt'], [{ enumerateDevices: async () => { throw new Error('no') } }, 'prompt'],
  ]
  for (const [mediaDevices, state] of cases) {
    for (const permissions of [silent, undefined]) assert.equal(await microphonePermission(/** @type {any} */ ({ permissions, mediaDevices })), state)
  }
})

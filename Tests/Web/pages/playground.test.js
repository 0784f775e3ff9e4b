// The playground's state, and its problems as text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, describe } from '../../../Web/playground/model/problems.js'
import { initialState, isInCall, reduce } from '../../../Web/playground/model/state.js'

const after = (...actions) => actions.reduce((state, [type, values]) => reduce(state, { type, at: 1000, ...values }), initialState)

const call = [['call.begin', { mode: 'token' }], ['room.state', { value: 'connected' }], ['agent.present', { identity: 'robin', name: 'Robin', value: 'listening' }]]

test('a call that has ended stays ended, whatever arrives late', () => {
  const state = after(...call, ['call.ended', {}], ['room.state', { value: 'reconnecting' }])
  assert.deepEqual([state.room.state, state.agent.state, isInCall(state)], ['ended', 'gone', false])
})

test('events about another assistant change nothing', () => {
  const state = after(...call)
  assert.equal(reduce(state, { type: 'agent.state', identity: 'eve', value: 'speaking', at: 1 }), state)
  assert.equal(reduce(state, { type: 'agent.gone', identity: 'eve', at: 1 }), state)
})

test('a new call forgets the old one, but not that the browser cannot call', () => {
  const state = after(['problem.add', { key: 'support' }], ['problem.add', { key: 'start', code: 'x' }], ...call, ['line', { line: { kind: 'typed', name: '', text: 'hi' } }], ['call.begin', { mode: 'token' }])
  assert.deepEqual([state.transcript.lines, state.agent, state.problems.map(({ key }) => key)], [[], null, ['support']])
})

test('a device that was unplugged is no longer chosen', () => {
  const chosen = after(['devices', { microphones: [{ deviceId: 'm' }], speakers: [{ deviceId: 's' }] }], ['devices.chosen', { kind: 'microphone', id: 'm' }], ['devices.chosen', { kind: 'speaker', id: 's' }])
  const { microphone, speaker } = reduce(chosen, { type: 'devices', microphones: [], speakers: [{ deviceId: 's' }], at: 1 }).devices
  assert.deepEqual([microphone, speaker], ['', 's'])
})

test('the log keeps the latest events and counts the others', () => {
  let state = initialState
  for (let index = 0; index < 510; index++) state = reduce(state, { type: 'event', source: 'page', name: `e${index}`, data: {}, at: index })
  assert.deepEqual([state.log.entries.length, state.log.removed, state.log.entries[0].name, state.log.next], [500, 10, 'e10', 511])
})

test('an action that nobody knows is a mistake', () => {
  assert.throws(() => reduce(initialState, { type: 'no.such' }))
})

test('every problem has a title and a text', () => {
  for (const [key, kinds] of Object.entries(catalogue)) {
    for (const code of Object.keys(kinds)) {
      const { title, text, severity } = describe({ key, code, message: 'no', deadline: 0, number: 4100, hasDevelopment: true })
      assert.ok(title && text && severity, `${key} ${code}`)
      assert.doesNotMatch(`${title} ${text}`, /undefined|null/, `${key} ${code}`)
    }
  }
})

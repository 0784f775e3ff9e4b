// Messages of an assistant are another participant's: nothing in them is trusted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASSISTANT_TOPIC, readAssistantMessage } from '../../../Web/patchbay/assistant.js'

const read = (type, data) => readAssistantMessage({ topic: ASSISTANT_TOPIC, participant: 'robin', object: { type, data } })
const card = (values) => ({ id: 'c', kind: 'info', title: 't', body: 'b', actions: [], ...values })

test('a tool, a card and the metrics of a turn are events', () => {
  assert.deepEqual(read('tool.failed', { id: 't', name: 'find', message: 'no', retry: 1 }), {
    name: 'tool', value: { type: 'failed', id: 't', name: 'find', message: 'no', retry: false, participant: 'robin' },
  })
  assert.deepEqual(read('card', card({ actions: [{ id: 'ok', title: 'OK', extra: 1 }] })).value.actions, [{ id: 'ok', title: 'OK' }])
  assert.deepEqual(read('turn.metrics', { turn: 2, voice_to_voice_ms: 310, recognition_ms: 'x' }).value, {
    turn: 2, interrupted: false, voiceToVoice: 310, participant: 'robin',
  })
  assert.deepEqual(read('language.limited', { language: 'de-AT', spoken: 'en', understood: 'en', extra: 1 }), {
    name: 'languageLimited', value: { language: 'de-AT', spoken: 'en', understood: 'en', participant: 'robin' },
  })
})

test('another topic is no message of an assistant', () => {
  assert.equal(readAssistantMessage({ topic: 'chat', participant: 'eve', object: { type: 'card', data: card() } }), null)
})

test('the participant is the sender, whatever the message says', () => {
  assert.equal(read('tool.started', { id: 't', name: 'n', participant: 'ann' }).value.participant, 'robin')
})

test('malformed messages are no events', () => {
  const malformed = [
    ['card', card({ actions: 'none' })], ['card', card({ actions: [null] })], ['card', card({ kind: 'page' })], ['card', card({ id: '' })],
    ['card', card({ title: 'x'.repeat(257) })], ['card', card({ actions: Array(9).fill({ id: 'a', title: 'A' }) })],
    ['tool.started', { id: 1, name: 'n' }], ['tool.failed', { id: 't', name: 'n' }], ['turn.metrics', { turn: '1' }], ['turn.metrics', null],
    ['language.limited', { language: 'de', spoken: 'en' }], ['language.limited', { language: 'x'.repeat(36), spoken: 'en', understood: 'en' }],
    ['constructor', {}], ['__proto__', {}], [undefined, {}], ['tool.started', undefined],
  ]
  for (const [type, data] of malformed) assert.ok(!read(type, data), `${type} ${JSON.stringify(data)}`)
  assert.equal(readAssistantMessage({ topic: ASSISTANT_TOPIC, participant: 'eve', object: 'text' }), null)
  assert.equal(readAssistantMessage({ topic: ASSISTANT_TOPIC, participant: 'eve' }), null)
})

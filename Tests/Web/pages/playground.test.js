// The playground's state, and its problems as text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseLanguage, tables } from '../../../Web/playground/model/language.js'
import { loudness } from '../../../Web/playground/model/levels.js'
import { catalogue, describe } from '../../../Web/playground/model/problems.js'
import { summaryState } from '../../../Web/playground/model/stored-session.js'
import { transcriptText } from '../../../Web/playground/model/transcript-text.js'
import { addTurn, knownStages, trendOf } from '../../../Web/playground/model/turns.js'
import { StallWatch } from '../../../Web/playground/model/stall-watch.js'
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

test('every problem has a title and a text in every language', () => {
  for (const [language, table] of Object.entries(tables)) {
    for (const [key, kinds] of Object.entries(catalogue)) {
      for (const code of Object.keys(kinds)) {
        const { title, text, severity, actions } = describe({ key, code, message: 'no', deadline: 0, number: 4100, hasDevelopment: true }, table)
        assert.ok(title && text && severity, `${language} ${key} ${code}`)
        assert.doesNotMatch(`${title} ${text} ${actions.map(({ label }) => label)}`, /undefined|null/, `${language} ${key} ${code}`)
      }
    }
  }
  assert.equal(describe({ key: 'microphone', code: 'constructor', message: 'No.' }).title, describe({ key: 'microphone' }).title)
})

/** `{path: value}` of all texts and functions; texts of a problem are one value. */
const flatten = (table, path = '') => (typeof table !== 'object' ? { [path]: table } : Object.assign({}, ...Object.entries(table).map(([key, value]) => flatten(value, `${path}.${key}`))))

test('all languages have the same texts, and their sentences leave nothing out', () => {
  const english = flatten(tables.en)
  for (const [language, table] of Object.entries(tables)) {
    const texts = flatten(table)
    assert.deepEqual(Object.keys(texts), Object.keys(english), language)
    for (const [key, value] of Object.entries(texts)) {
      assert.equal(typeof value, typeof english[key], `${language} ${key}`)
      if (typeof value === 'string') assert.notEqual(value.trim(), '', `${language} ${key}`)
      else if (!key.startsWith('.problems')) {
        assert.equal(value.length, english[key].length, `${language} ${key}`)
        const given = Array.from({ length: value.length }, (_, index) => `[${index}]`)
        for (const one of given) assert.ok(value(...given).includes(one), `${language} ${key}`)
      }
    }
  }
})

test('the language is the first of the browser’s that has texts', () => {
  const cases = [[['de-AT', 'en'], 'de-AT'], [['it', 'fr-CA', 'en'], 'fr-CA'], [['it', 'nl'], 'en'], [[], 'en'], [['not a tag', 'es'], 'es']]
  for (const [preferred, expected] of cases) assert.equal(chooseLanguage(preferred), expected)
})

test('levels are words', () => {
  assert.deepEqual([-127, -60, -50, -40, -20, -3].map(loudness), ['silent', 'silent', 'faint', 'quiet', 'good', 'loud'])
})

test('turns are kept once and in order, and stages that never took place have no column', () => {
  const turns = [{ turn: 1, voiceToVoice: 400 }, { turn: 2, firstAudio: 40 }, { turn: 2, firstAudio: 50, voiceToVoice: 500 }].reduce(addTurn, [])
  assert.deepEqual([turns.map(({ turn }) => turn), turns[1].firstAudio, knownStages(turns)], [[1, 2], 50, ['firstAudio', 'voiceToVoice']])
  const many = Array.from({ length: 150 }, (_, turn) => ({ turn })).reduce(addTurn, [])
  assert.deepEqual([many.length, many[0].turn, knownStages(many)], [100, 50, []])
})

test('the trend compares the later answers with the earlier ones', () => {
  const trend = (...totals) => trendOf(totals.map((voiceToVoice, turn) => ({ turn, voiceToVoice })))
  assert.equal(trend(), null)
  assert.equal(trendOf([{ turn: 1 }]), null)
  assert.deepEqual(trend(400, 600), { average: 500, kind: 'few', percent: 0 })
  assert.deepEqual(trend(500, 510, 490, 500), { average: 500, kind: 'steady', percent: 2 })
  assert.deepEqual(trend(400, 400, 800, 800), { average: 600, kind: 'slower', percent: 100 })
  assert.deepEqual(trend(800, 800, 400, 400), { average: 600, kind: 'faster', percent: 50 })
  // Only recent turns count.
  assert.equal(trend(...Array(20).fill(2000), ...Array(10).fill(400)).kind, 'steady')
})

test('a stored session says how far its summary is', () => {
  const session = (values, summary = null) => summaryState({ session: { logging_enabled_snapshot: true, summary_status: 'pending', ...values }, summary })
  assert.deepEqual([session({}), session({ summary_status: 'failed' }), session({}, { title: 'Dinner' }), session({ logging_enabled_snapshot: false })], ['pending', 'failed', 'ready', 'unlogged'])
})

test('the copied text has the summary and what was heard, and no notes', () => {
  const lines = [
    { kind: 'user', name: '', text: 'Hello' }, { kind: 'user', name: '', text: ' ' }, { kind: 'note', name: '', text: 'Tool started' },
    { kind: 'assistant', name: 'Robin', text: 'Good morning to you', spoken: 'interrupted', spokenChars: 12, heard: 12 },
  ]
  const summary = { title: 'A greeting', summary_text: 'They met.', action_items: ['Call back'] }
  assert.equal(transcriptText({ transcript: { lines }, session: { summary: null } }, tables.en), 'You: Hello\nRobin: Good morning')
  assert.equal(transcriptText({ transcript: { lines: lines.slice(0, 1) }, session: { summary } }, tables.de), 'A greeting\n\nThey met.\n- Call back\n\nSie: Hello')
})

test('a gateway that does not answer is noticed within 5 s, and forgotten when it answers', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  let now = 0
  context.mock.method(performance, 'now', () => now)
  const told = []
  let answer = null
  const watch = new StallWatch(() => ({ then: (answered) => (answer = answered) }), (isStalled) => told.push([now, isStalled]))
  const pass = (milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      now += 100
      context.mock.timers.tick(100)
    }
  }
  watch.start()
  pass(1000)
  answer()
  pass(6000)
  assert.equal(told.length, 1)
  const [at, isStalled] = told[0]
  assert.ok(isStalled && at - 1000 < 5000, String(at))
  answer()
  assert.equal(told.at(-1)[1], false)
  watch.stop()
  pass(9000)
  assert.equal(told.length, 2)
})

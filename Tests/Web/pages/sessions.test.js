// The page of sessions: lists that shift while they are read, details that arrive late, and turns in recordings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, describe } from '../../../Web/sessions/model/problems.js'
import { REFRESH_PX, pullOf } from '../../../Web/sessions/model/pull.js'
import { placeRecordings, positions, readStart, turnAt } from '../../../Web/sessions/model/recording.js'
import { initialState, isGrowing, reduce } from '../../../Web/sessions/model/state.js'

const after = (...actions) => actions.reduce((state, [type, values]) => reduce(state, { type, at: 1000, ...values }), initialState)
const sessions = (...ids) => ids.map((id) => ({ id, title: id }))
const ids = ({ list }) => list.sessions.map(({ id }) => id)

test('a page that repeats sessions adds only the others', () => {
  const state = after(['list.loaded', { sessions: sessions('c', 'b'), next: '/2' }], ['list.more', { sessions: sessions('b', 'a'), next: null }])
  assert.deepEqual([ids(state), state.list.next], [['c', 'b', 'a'], null])
})

test('the first page again keeps what was loaded beyond it', () => {
  const loaded = [['list.loaded', { sessions: sessions('c', 'b'), next: '/2' }], ['list.more', { sessions: sessions('a'), next: null }]]
  assert.deepEqual(ids(after(...loaded, ['list.loaded', { sessions: sessions('d', 'c', 'b'), next: '/2' }])), ['d', 'c', 'b', 'a'])
  // Nothing of what is known is in it: there may be a gap.
  assert.deepEqual(ids(after(...loaded, ['list.loaded', { sessions: sessions('z'), next: '/2' }])), ['z'])
})

test('a list that was shown stays when the gateway cannot be reached', () => {
  assert.equal(after(['list.loaded', { sessions: sessions('a'), next: null }], ['list.failed', {}]).list.state, 'ready')
  assert.equal(after(['list.failed', {}]).list.state, 'failed')
})

test('a detail that arrives late is ignored', () => {
  const state = after(['route', { route: { name: 'session', id: 'b' } }], ['detail.loaded', { id: 'a', session: {}, summary: null, turns: [], recordings: [] }])
  assert.equal(state.detail.state, 'loading')
})

test('a new title appears in the list', () => {
  const state = after(
    ['list.loaded', { sessions: sessions('a'), next: null }], ['route', { route: { name: 'session', id: 'a' } }],
    ['detail.loaded', { id: 'a', session: {}, summary: { title: 'Dinner' }, turns: [], recordings: [] }])
  assert.equal(state.list.sessions[0].title, 'Dinner')
})

test('logging out forgets everything but the address', () => {
  const state = after(['user', { user: { email: 'ann' } }], ['route', { route: { name: 'session', id: 'a' } }], ['list.loaded', { sessions: sessions('a'), next: null }], ['logged-out', {}])
  assert.deepEqual([state.user, ids(state), state.route.id, state.stage], [null, [], 'a', 'login'])
})

test('the next code is possible when the gateway says so', () => {
  assert.equal(after(['code.sent', { purpose: 'reset' }]).codes.reset.nextAt, 61_000)
  assert.equal(after(['code.sent', { purpose: 'reset', seconds: 5 }]).codes.reset.nextAt, 6000)
})

test('a session grows while it runs or is summarized', () => {
  const grows = (values) => isGrowing({ state: 'ready', session: { ended_at: 'x', summary_status: 'ready', ...values } })
  assert.deepEqual([grows({}), grows({ ended_at: null }), grows({ summary_status: 'pending' })], [false, true, true])
})

test('every problem has a title, a text and a severity', () => {
  for (const [key, kinds] of Object.entries(catalogue)) {
    for (const code of Object.keys(kinds)) {
      const { title, text, severity } = describe({ key, code, message: 'no', retryAfter: 90 })
      assert.ok(title && text && severity, `${key} ${code}`)
    }
  }
  assert.equal(describe({ key: 'list', code: 'new_in_the_future', message: 'the store is asleep', retryAfter: null }).text, 'The store is asleep.')
})

/** The second page of an Ogg Opus file with these comments. */
function tags(...comments) {
  const number = (value) => [value & 255, value >> 8 & 255, 0, 0]
  const text = (value) => [...new TextEncoder().encode(value)]
  const parts = ['patchbay', ...comments].map((comment) => [...number(text(comment).length), ...text(comment)])
  return Uint8Array.from([...text('OggS…OpusTags'), ...parts[0], ...number(comments.length), ...parts.slice(1).flat()])
}

test('a recording says when it began', () => {
  assert.equal(readStart(tags('TITLE=x', 'DATE=2026-01-01T10:00:00Z')), Date.parse('2026-01-01T10:00:00Z'))
  assert.equal(readStart(tags('date=2026-01-01T10:00:00Z')), Date.parse('2026-01-01T10:00:00Z'))
  for (const file of [tags(), tags('DATE=yesterday'), new Uint8Array(0), new Uint8Array(9000), tags('DATE=2026-01-01T10:00:00Z').slice(0, 40)]) assert.equal(readStart(file), null)
})

test('no file that is cut short throws', () => {
  const file = tags('TITLE=x', 'DATE=2026-01-01T10:00:00Z')
  for (let length = 0; length <= file.length; length++) readStart(file.slice(0, length))
})

test('recordings are placed on one timeline', () => {
  const turns = [{ audio_ref: 'b', timestamp: '2026-01-01T10:00:05Z' }, { audio_ref: 'b', timestamp: '2026-01-01T10:00:03Z' }]
  const start = Date.parse('2026-01-01T10:00:00Z')
  const placed = placeRecordings([{ name: 'a', startedAt: start }, { name: 'b', startedAt: null }, { name: 'c', startedAt: null }], turns)
  assert.deepEqual(placed, { origin: start, tracks: [{ name: 'a', offset: 0 }, { name: 'b', offset: 3 }, { name: 'c', offset: 0 }] })
  assert.equal(placeRecordings([{ name: 'a', startedAt: null }], []).origin, null)
})

test('turns are found by time, also where clocks went back', () => {
  const start = Date.parse('2026-01-01T10:00:00Z')
  const at = positions([0, 4, 2, 6].map((second) => ({ timestamp: new Date(start + second * 1000).toISOString() })), start)
  assert.deepEqual(at, [0, 4, 4, 6])
  assert.deepEqual([-1, 0, 3.9, 4, 5, 99].map((time) => turnAt(at, time)), [-1, 0, 0, 2, 2, 3])
  assert.equal(turnAt([], 1), -1)
})

test('a list that is pulled far enough is read anew, and follows no farther than it should', () => {
  assert.deepEqual([-50, 0, 40].map(pullOf), [{ offset: 0, isFar: false }, { offset: 0, isFar: false }, { offset: 20, isFar: false }])
  assert.deepEqual([pullOf(2 * REFRESH_PX).isFar, pullOf(2 * REFRESH_PX - 1).isFar, pullOf(9999).offset], [true, false, 96])
})

test('the question about logging is a stage of its own, and an error of it belongs to its card', () => {
  assert.equal(after(['stage', { stage: 'consent' }]).stage, 'consent')
  assert.equal(describe({ key: 'consent', code: 'http_500', message: 'no' }).title, 'Your answer was not saved')
})

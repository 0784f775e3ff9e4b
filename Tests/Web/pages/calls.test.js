// The page of calls: the shown call, the name of the other party, and the ending.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAddress, kindOf, listed, nameOf, titleOf } from '../../../Web/calls/model/people.js'
import { catalogue, describe } from '../../../Web/calls/model/problems.js'
import { initialState, joined, reduce, ringing, shownCall, talking } from '../../../Web/calls/model/state.js'

const after = (...actions) => actions.reduce((state, [type, values]) => reduce(state, { type, at: 1000, ...values }), initialState)

const call = (id, values = {}) => ({
  id, caller: 'me', callerName: '', direction: 'outgoing', state: 'active', status: 'answered', heldByUs: false, heldByOthers: false, mutedByUs: false,
  others: [{ party: 'bob', state: 'joined' }], ...values,
})
const incoming = (id, values = {}) => call(id, { caller: 'ann', callerName: 'Ann', direction: 'incoming', state: 'connecting', status: 'ringing', others: [{ party: 'ann', state: 'joined' }], ...values })
const calls = (...list) => ['calls', { calls: list, elsewhere: [] }]

test('a call that is made or answered is shown; one that rings is not', () => {
  const rung = after(calls(incoming('a')))
  assert.deepEqual([rung.shown, ringing(rung).length, joined(rung).length], [null, 1, 0])
  assert.equal(after(calls(incoming('a')), calls(incoming('a', { state: 'active' }))).shown, 'a')
  assert.equal(after(calls(call('b', { state: 'connecting' }))).shown, 'b')
})

test('a second call takes the screen, and gives it back when it ends', () => {
  const first = call('a', { heldByUs: true, state: 'held' })
  const both = after(calls(call('a')), ['minimized', { isMinimized: true }], calls(first, call('b')))
  assert.deepEqual([both.shown, both.isMinimized, talking(both).map(({ id }) => id)], ['b', false, ['b']])
  assert.equal(reduce(both, { type: 'calls', calls: [first], elsewhere: [] }).shown, 'a')
  assert.equal(reduce(both, { type: 'show', id: 'a' }).shown, 'a')
  assert.equal(reduce(both, { type: 'show', id: 'gone' }).shown, 'b')
})

test('after the last call nothing is left of it', () => {
  const state = after(calls(call('a')), ['keypad', { isOpen: true }], ['digit', { digit: '5' }], ['audio', { id: 'a', values: { room: 'connected' } }], calls())
  assert.deepEqual([shownCall(state), state.hasKeypad, state.digits, state.audio, state.isMinimized], [null, false, '', {}, false])
})

test('another call begins with no digits, and only the last digits are shown', () => {
  const dialled = after(calls(call('a')), ...Array.from({ length: 40 }, (_, index) => ['digit', { digit: String(index % 10) }]))
  assert.equal(dialled.digits.length, 32)
  assert.equal(reduce(dialled, { type: 'calls', calls: [call('a'), call('b')], elsewhere: [] }).digits, '')
})

test('without a call nothing can be minimized', () => {
  assert.equal(after(['minimized', { isMinimized: true }]).isMinimized, false)
})

test('a party has the name of the contact with its address, never of one that a caller claims to be', () => {
  const contacts = ['contacts', { contacts: [{ address: 'Bob@example.org', name: 'Bob' }, { address: 'ann@example.org', name: 'Ann, my sister' }, { address: 'u-9', name: 'Nine' }] }]
  const state = after(contacts, ['party.known', { party: 'bob', address: 'bob@example.org' }], calls(incoming('a', { callerName: 'ann@example.org' })))
  assert.equal(nameOf('bob', state), 'Bob')
  assert.equal(nameOf('ann', state), 'ann@example.org')
  assert.equal(nameOf('u-9', state), 'Nine')
  assert.equal(nameOf('assistant:robin', state), 'Assistant robin')
  assert.equal(nameOf('0d8f3c1e-6a52-4c1b-9a57-3f0a5f7f2b11', state), 'User 0d8f3c1e')
})

test('callers of the history are known, and the own name is not taken from it', () => {
  const entries = [{ id: 'a', caller: 'ann', caller_name: 'Ann', ended_at: '1' }, { id: 'b', caller: 'me', caller_name: '@me', ended_at: '2' }]
  const state = after(['user', { user: { id: 'me' } }], ['recents', { entries, next: '/2' }], ['recents.more', { entries: [entries[1], { ...entries[1], id: 'c' }], next: null }])
  assert.deepEqual(state.people, { ann: { name: 'Ann' } })
  assert.deepEqual([state.recents.list.map(({ id }) => id), state.recents.next], [['a', 'b', 'c'], null])
})

test('the title of a call names those who are in it, afterwards everyone', () => {
  const people = { ...initialState, people: { bob: { name: 'Bob' }, eve: { name: 'Eve' } } }
  const others = [{ party: 'bob', state: 'joined' }, { party: 'eve', state: 'left' }]
  assert.equal(titleOf(call('a', { others }), people), 'Bob')
  assert.equal(titleOf(call('a', { others: others.map((one) => ({ ...one, state: 'left' })) }), people), 'Bob and Eve')
  assert.deepEqual([listed([]), listed(['A', 'B', 'C']), listed(['A', 'B', 'C', 'D'])], ['Nobody', 'A, B and 1 other', 'A, B and 2 others'])
})

test('addresses', () => {
  for (const good of ['ann@example.org', '@ann', '0d8f3c1e-6a52-4c1b-9a57-3f0a5f7f2b11', 'assistant:robin']) assert.ok(isAddress(good), good)
  for (const bad of ['', 'ann', '@a', '@@ann', 'a b@c.org', 'ann@', '@ann@example.org', `${'a'.repeat(300)}@b.org`]) assert.ok(!isAddress(bad), bad)
})

test('what the history says about a call', () => {
  const entry = (caller, status, answered) => ({ caller, status, answered_at: answered && '2026-11-21T14:00:00Z' })
  const cases = [
    ['me', 'completed', true, 'outgoing', 'Outgoing'], ['me', 'busy', false, 'outgoing', 'Busy'], ['me', 'timeout', false, 'outgoing', 'No answer'],
    ['ann', 'completed', true, 'incoming', 'Incoming'], ['ann', 'timeout', false, 'missed', 'Missed'], ['ann', 'cancelled', false, 'missed', 'Missed'],
    ['ann', 'busy', false, 'missed', 'Missed'], ['ann', 'rejected', false, 'incoming', 'Declined'],
  ]
  for (const [caller, status, answered, kind, text] of cases) assert.deepEqual(kindOf(entry(caller, status, answered), 'me'), { kind, text })
})

test('every problem has a title, a text and a known severity', () => {
  for (const [key, kinds] of Object.entries(catalogue)) {
    for (const code of Object.keys(kinds)) {
      const { severity, title, text } = describe({ key, code, message: 'the gateway says why', name: 'Ann', milliseconds: 5000, retryAfter: 90 })
      assert.ok(['error', 'warning', 'info'].includes(severity) && title && text && !/undefined|null/.test(title + text), `${key} ${code}`)
    }
  }
  assert.equal(describe({ key: 'dial', code: 'new_code', message: 'something new' }).text, 'Something new.')
})

test('logging out leaves nothing', () => {
  const state = after(['user', { user: { id: 'me' } }], calls(call('a')), ['contacts', { contacts: [{ address: 'a@b.c' }] }], ['logged-out', {}])
  assert.deepEqual([state.user, state.calls, state.contacts.list, state.shown, state.stage], [null, [], [], null, 'login'])
})

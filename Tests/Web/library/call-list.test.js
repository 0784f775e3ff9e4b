// The calls of one device: additions, changes and endings on its screen.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallList, readCall } from '../../../Web/patchbay/call-list.js'

const member = (party, status, values = {}) => {
  const state = ['started', 'ringing'].includes(status) ? 'invited' : status === 'answered' ? 'joined' : 'left'
  return { party, state, status, held: false, muted: false, ...values }
}

/** A call of ann to bob. */
const described = (seq, status, ann, bob, values = {}) => ({
  id: 'CA_1', uuid: '5d2b3a5e-0000-5000-8000-000000000000', room: 'call-CA_1', seq, status, caller: 'ann', caller_name: 'Ann', metadata: '',
  members: [member('ann', ...ann), member('bob', ...bob)], started_at: '2026-11-21T14:00:00.000Z', ...values,
})

function listOf(user, calls = [], device = 'DV_1') {
  const list = new CallList()
  list.begin({ user, device, calls })
  return list
}

const told = (updates) => updates.map(({ type, call, event }) => [type, call.state, call.ending ?? event])

test('an incoming call rings, is answered here, held by the other side, and ends', () => {
  const list = listOf('bob')
  assert.deepEqual(told(list.apply(described(1, 'ringing', ['answered'], ['ringing']), { event: 'call.incoming' })), [['appeared', 'connecting', 'call.incoming']])
  assert.equal(list.calls[0].direction, 'incoming')
  const answered = described(2, 'answered', ['answered'], ['answered', { device: 'DV_1' }])
  assert.deepEqual(told(list.apply(answered, { isHere: true })), [['changed', 'active', null]])
  // The event contains no news after the reply.
  assert.deepEqual(told(list.apply(answered, { event: 'call.answered' })), [])
  const held = described(3, 'answered', ['answered', { held: true }], ['answered', { device: 'DV_1' }])
  assert.deepEqual(told(list.apply(held, { event: 'call.held' })), [['changed', 'held', 'call.held']])
  assert.deepEqual([list.calls[0].heldByOthers, list.calls[0].heldByUs], [true, false])
  assert.deepEqual(told(list.apply(described(5, 'completed', ['completed'], ['completed']))), [['ended', 'ended', 'completed']])
  assert.deepEqual(list.calls, [])
  // The end is reported once, and an older description changes nothing.
  assert.deepEqual(list.apply(described(6, 'completed', ['completed'], ['completed'])), [])
  assert.deepEqual(list.apply(held), [])
})

test('how a call ends, by the status of this user', () => {
  for (const [status, ending] of [['cancelled', 'cancelled'], ['rejected', 'rejected'], ['busy', 'busy'], ['timeout', 'unanswered'], ['failed', 'failed']]) {
    const list = listOf('ann')
    list.apply(described(1, 'ringing', ['answered', { device: 'DV_1' }], ['ringing']), { isHere: true })
    assert.deepEqual(told(list.apply(described(2, status, [status], [status]))), [['ended', 'ended', ending]])
  }
})

test('another device of the user answers, and this one takes the call over', () => {
  const list = listOf('bob', [described(1, 'ringing', ['answered'], ['ringing'])])
  const elsewhere = described(2, 'answered', ['answered'], ['answered', { device: 'DV_other' }])
  assert.deepEqual(told(list.apply(elsewhere, { event: 'call.answered' })), [['ended', 'ended', 'answered_elsewhere']])
  assert.deepEqual(list.elsewhere.map(({ id }) => id), ['CA_1'])
  const taken = described(3, 'answered', ['answered'], ['answered', { device: 'DV_1' }])
  assert.deepEqual(told(list.apply(taken, { isHere: true })), [['appeared', 'active', null]])
  assert.deepEqual(list.elsewhere, [])
  assert.deepEqual(told(list.apply(described(4, 'answered', ['answered'], ['answered', { device: 'DV_other' }]))), [['ended', 'ended', 'moved_elsewhere']])
})

test('a user that joins over HTTP has moved to another device', () => {
  const list = listOf('bob')
  list.apply(described(1, 'answered', ['answered'], ['answered', { device: 'DV_1' }]), { isHere: true })
  assert.deepEqual(told(list.apply(described(2, 'answered', ['answered'], ['answered']), { event: 'call.moved' })), [['ended', 'ended', 'moved_elsewhere']])
})

test('after a reconnect, calls of the earlier connection are still here, and those that are gone have ended', () => {
  const list = listOf('bob')
  const mine = described(2, 'answered', ['answered'], ['answered', { device: 'DV_1' }])
  list.apply(mine, { isHere: true })
  assert.deepEqual(told(list.begin({ user: 'bob', device: 'DV_2', calls: [mine] })), [])
  assert.equal(list.calls[0].state, 'active')
  assert.deepEqual(told(list.begin({ user: 'bob', device: 'DV_3', calls: [] })), [['ended', 'ended', 'while_away']])
  assert.deepEqual(list.calls, [])
})

test('another user sees nothing of the earlier one', () => {
  const list = listOf('bob', [described(1, 'ringing', ['answered'], ['ringing'])])
  assert.deepEqual(list.begin({ user: 'eve', device: 'DV_9', calls: [] }), [])
  assert.deepEqual([list.calls, list.elsewhere, list.user], [[], [], 'eve'])
})

test('ended calls are forgotten, shown ones never', () => {
  const list = listOf('bob')
  list.apply(described(1, 'ringing', ['answered'], ['ringing'], { id: 'CA_shown' }))
  for (let number = 0; number < 200; number++) list.apply(described(2, 'completed', ['completed'], ['completed'], { id: `CA_${number}` }))
  assert.deepEqual(list.calls.map(({ id }) => id), ['CA_shown'])
})

test('times and fields of a call', () => {
  const call = readCall(described(1, 'ringing', ['answered'], ['ringing']))
  assert.deepEqual([call.startedAt, call.answeredAt, call.endedAt, call.callerName], [new Date('2026-11-21T14:00:00Z'), null, null, 'Ann'])
  assert.equal(call.members[1].device, null)
})

// The phone of the page of calls: which rooms it is in, and which calls it holds.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { settle } from '../support/sockets.js'
import '../support/page.js'
import { CallAudio } from '../../../Web/calls/model/call-audio.js'
import { phone } from '../../../Web/calls/model/phone.js'
import { store } from '../../../Web/calls/model/store.js'
import { CallChannel } from '../../../Web/patchbay/call-channel.js'

const call = (id, values = {}) => ({
  id, caller: 'me', callerName: '', direction: 'outgoing', state: 'active', status: 'answered', heldByUs: false, heldByOthers: false, mutedByUs: false,
  members: [{ party: 'me' }, { party: 'bob' }], others: [{ party: 'bob', state: 'joined' }], ...values,
})

/** Opens the phone's channel on a gateway that grants everything. */
async function opened(context) {
  const channels = []
  const asked = []
  const rooms = { joined: [], closed: [] }
  let calls = []
  const tell = (list, elsewhere = []) => {
    calls = list
    channels.at(-1).emit('calls', list, elsewhere)
  }
  context.mock.method(CallChannel.prototype, 'connect', async function () { channels.push(this) })
  context.mock.method(CallChannel.prototype, 'hold', async (id, held = true) => {
    asked.push(`${held ? 'hold' : 'resume'} ${id}`)
    tell(calls.map((one) => (one.id === id ? { ...one, heldByUs: held } : one)))
  })
  context.mock.method(CallChannel.prototype, 'answer', async (id) => ({ call: call(id), url: null, token: 't' }))
  const start = context.mock.method(CallChannel.prototype, 'start', async () => {
    tell([...calls, call('b')])
    return { call: call('b'), url: null, token: 't' }
  })
  context.mock.method(CallAudio.prototype, 'connect', async function (id) {
    this.call = id
    rooms.joined.push(id)
  })
  context.mock.method(CallAudio.prototype, 'close', function () { rooms.closed.push(this.call) })
  await phone.open('t', () => {})
  return { channels, asked, rooms, tell, start }
}

beforeEach(() => {
  phone.close()
  store.dispatch('logged-out')
  store.dispatch('user', { user: { id: 'me', email: 'me@example.org', settings: {} } })
})

test('a call that is elsewhere after the channel was opened again leaves its room', async (context) => {
  const { channels, rooms, tell } = await opened(context)
  tell([call('a')])
  await phone.answer('a')
  assert.deepEqual(rooms, { joined: ['a'], closed: [] })
  channels[0].emit('disconnected', { code: 4105, message: 'closed' })
  assert.ok(phone.audioOf('a'), 'a call goes on without the channel')
  await phone.open('t', () => {})
  tell([], [{ id: 'a' }])
  assert.deepEqual([rooms.closed, phone.audioOf('a')], [['a'], null])
})

test('a room that is being joined is not left, whatever the channel reports meanwhile', async (context) => {
  const { rooms, tell } = await opened(context)
  context.mock.method(CallAudio.prototype, 'connect', async (id) => {
    tell([])
    tell([call(id)])
  })
  await phone.answer('a')
  assert.deepEqual(rooms.closed, [])
  assert.ok(phone.audioOf('a'))
})

test('the call that is held for another one is resumed if that cannot be made', async (context) => {
  const { asked, start, tell } = await opened(context)
  tell([call('a')])
  start.mock.mockImplementationOnce(async () => { throw Object.assign(new Error('nobody'), { code: 'not_found' }) })
  assert.equal(await phone.call(['@bob']), false)
  assert.deepEqual([asked, store.state.calls[0].heldByUs, store.state.dialing], [['hold a', 'resume a'], false, null])
  assert.equal(store.state.problems.at(-1).code, 'not_found')
})

test('a call that the user had held stays held, and so does one that gives way to a call', async (context) => {
  const { asked, start, tell } = await opened(context)
  tell([call('a', { heldByUs: true })])
  start.mock.mockImplementationOnce(async () => { throw Object.assign(new Error('nobody'), { code: 'not_found' }) })
  await phone.call(['@bob'])
  assert.deepEqual(asked, [])
  tell([call('a')])
  assert.equal(await phone.call(['@bob']), true)
  assert.deepEqual(asked, ['hold a'])
})

test('a call that is being made when the user logs out is not reported to the next user', async (context) => {
  const { start } = await opened(context)
  let fail = (_error) => {}
  start.mock.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)))
  const dialing = phone.call(['@bob'])
  await settle()
  phone.close()
  store.dispatch('logged-out')
  fail(Object.assign(new Error('closed'), { code: 'connection_lost' }))
  assert.equal(await dialing, false)
  assert.deepEqual([store.state.problems, store.state.dialing], [[], null])
})

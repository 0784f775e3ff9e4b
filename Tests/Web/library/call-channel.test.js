// The channel of a user: requests and events, expiring tokens, and lost connections.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { settle, sockets } from '../support/sockets.js'
import { CallChannel } from '../../../Web/patchbay/call-channel.js'

const TOKEN = 'a.b.c'
const NAMES = /** @type {const} */ (['state', 'incoming', 'changed', 'ended', 'calls', 'session', 'disconnected'])

const ringing = {
  id: 'CA_1', uuid: '5d2b3a5e-0000-5000-8000-000000000000', room: 'call-CA_1', seq: 1, status: 'ringing', caller: 'ann', caller_name: 'Ann', metadata: '',
  members: [{ party: 'ann', state: 'joined', status: 'answered', held: false, muted: false }, { party: 'bob', state: 'invited', status: 'ringing', held: false, muted: false }],
}

const socket = () => sockets.at(-1)

function welcome(calls = [], values = {}) {
  socket().onopen?.()
  socket().tell({ type: 'hello', data: { server: { version: '1', node: 'n' }, user: 'bob', device: `DV_${sockets.length}`, calls, ...values } })
}

async function connected(token = /** @type {any} */ (TOKEN), values = {}) {
  sockets.length = 0
  const channel = new CallChannel({ reconnectAttempts: 3 })
  const told = []
  for (const name of NAMES) channel.on(name, (...all) => told.push([name, ...all]))
  const opening = channel.connect('wss://voice.example', token)
  await settle()
  welcome([], values)
  await opening
  told.length = 0
  return { channel, told }
}

const names = (told) => told.map(([name]) => name)

test('the channel opens with the user’s token, and knows the calls of hello', async () => {
  sockets.length = 0
  const channel = new CallChannel()
  const rung = []
  channel.on('incoming', ({ id, state }) => rung.push([id, state]))
  const opening = channel.connect(null, TOKEN)
  assert.equal(socket().url, 'wss://page.example/v1/events')
  assert.deepEqual(socket().protocols, ['patchbay.v1', `patchbay.bearer.${TOKEN}`])
  welcome([ringing])
  await opening
  assert.deepEqual([channel.state, channel.user, channel.device], ['connected', 'bob', 'DV_1'])
  assert.deepEqual(rung, [['CA_1', 'connecting']])
  await assert.rejects(channel.connect(null, TOKEN), /already connected/)
  channel.disconnect()
  assert.equal(channel.state, 'disconnected')
})

test('a refused token is explained by the route that lists calls', async () => {
  sockets.length = 0
  const asked = mock.method(globalThis, 'fetch', async () => new Response(JSON.stringify({ code: 'token_expired', message: 'expired' }), { status: 401 }))
  const channel = new CallChannel()
  const opening = channel.connect('wss://voice.example', TOKEN)
  socket().onclose({ code: 1006 })
  await assert.rejects(opening, { code: 'token_expired', status: 401 })
  assert.equal(asked.mock.calls[0].arguments[0], 'https://voice.example/v1/calls')
  assert.equal(channel.state, 'disconnected')
  asked.mock.restore()
})

test('answering returns access to the room, and the call is here before the caller goes on', async () => {
  const { channel, told } = await connected()
  socket().tell({ type: 'call.incoming', data: { call: ringing, by: 'ann' } })
  assert.deepEqual(names(told), ['incoming', 'changed', 'calls'])
  const answering = channel.answer('CA_1')
  const [{ id, data }] = socket().requests('call.answer')
  assert.deepEqual(data, { call: 'CA_1' })
  const [ann, bob] = ringing.members
  const call = { ...ringing, seq: 2, status: 'answered', members: [ann, { ...bob, state: 'joined', status: 'answered', device: 'DV_1' }] }
  socket().tell({ type: 'reply', re: id, data: { call, livekit_url: 'wss://voice.example', livekit_token: 'r.o.om', room_name: 'call-CA_1' } })
  assert.equal(channel.calls[0].state, 'active')
  const { url, token } = await answering
  assert.deepEqual([url, token], ['wss://voice.example', 'r.o.om'])
  channel.disconnect()
})

test('each method sends its request', async () => {
  const { channel } = await connected()
  const cases = [
    [() => channel.start(['@bob'], { callerName: 'Ann', idempotencyKey: 'k' }), 'call.start', { to: ['@bob'], caller_name: 'Ann', idempotency_key: 'k' }],
    [() => channel.start({ conversation: 'c' }), 'call.start', { conversation: 'c' }],
    [() => channel.join('CA_1'), 'call.join', { call: 'CA_1' }],
    [() => channel.reject('CA_1', { busy: true, reason: 'driving' }), 'call.reject', { call: 'CA_1', busy: true, reason: 'driving' }],
    [() => channel.hangUp('CA_1'), 'call.hangup', { call: 'CA_1' }],
    [() => channel.hold('CA_1'), 'call.hold', { call: 'CA_1', held: true }],
    [() => channel.mute('CA_1', false), 'call.mute', { call: 'CA_1', muted: false }],
    [() => channel.invite('CA_1', ['@eve']), 'call.invite', { call: 'CA_1', to: ['@eve'] }],
  ]
  for (const [send, type, data] of /** @type {[() => Promise<unknown>, string, object][]} */ (cases)) {
    const sending = send()
    const { id, data: sent } = socket().requests(type).at(-1)
    assert.deepEqual(sent, data, type)
    socket().tell({ type: 'error', re: id, data: { code: 'not_found', message: 'you have no such call', retryable: false } })
    await assert.rejects(sending, { code: 'not_found' })
  }
  channel.disconnect()
})

test('a tab that answers too late learns that another device was faster', async () => {
  const { channel, told } = await connected()
  socket().tell({ type: 'call.incoming', data: { call: ringing } })
  told.length = 0
  const answering = channel.answer('CA_1')
  const [ann, bob] = ringing.members
  const call = { ...ringing, seq: 2, status: 'answered', members: [ann, { ...bob, state: 'joined', status: 'answered', device: 'DV_other' }] }
  socket().tell({ type: 'error', re: socket().requests('call.answer')[0].id, data: { code: 'conflict', message: 'another device was faster', retryable: false, call } })
  await assert.rejects(answering, { code: 'conflict' })
  assert.deepEqual([names(told), told[0][2]], [['ended', 'calls'], 'answered_elsewhere'])
  assert.deepEqual(channel.callsElsewhere.map(({ id }) => id), ['CA_1'])
  // The end of the call on the other device.
  told.length = 0
  const over = { ...call, seq: 3, status: 'completed', members: call.members.map((member) => ({ ...member, state: 'left', status: 'completed' })) }
  socket().tell({ type: 'call.ended', data: { call: over } })
  assert.deepEqual([names(told), channel.callsElsewhere], [['calls'], []])
  channel.disconnect()
})

test('a source of tokens renews the token before it expires', async (context) => {
  context.mock.timers.enable(['setTimeout'])
  sockets.length = 0
  const asked = []
  const channel = new CallChannel()
  const opening = channel.connect('wss://voice.example', async (request) => (asked.push(request), `t.${asked.length}.x`))
  await Promise.resolve()
  await Promise.resolve()
  welcome([], { expires_in: 900 })
  await opening
  context.mock.timers.tick(719_000)
  assert.equal(asked.length, 1)
  context.mock.timers.tick(2000)
  await Promise.resolve()
  assert.deepEqual(asked, [{ isRefused: false }, { isRefused: true }])
  assert.deepEqual(socket().requests('token.renew')[0].data, { token: 't.2.x' })
  channel.disconnect()
})

test('an expired token is replaced after the connection was closed for it; one without a source ends the channel', async () => {
  const asked = []
  const { channel, told } = await connected(async (request) => (asked.push(request.isRefused), TOKEN))
  socket().onclose({ code: 4100 })
  await settle()
  welcome()
  await settle()
  assert.deepEqual([asked, channel.state], [[false, true], 'connected'])
  assert.deepEqual(told.filter(([name]) => name === 'state').map(([, state]) => state), ['reconnecting', 'connected'])
  channel.disconnect()

  const { channel: other, told: otherTold } = await connected()
  socket().onclose({ code: 4100 })
  await settle()
  assert.equal(other.state, 'disconnected')
  assert.deepEqual([otherTold.at(-1)[0], otherTold.at(-1)[1].code], ['disconnected', 4100])
})

test('a lost connection is restored; a call that is gone then has ended', async () => {
  const { channel, told } = await connected()
  socket().tell({ type: 'call.incoming', data: { call: ringing } })
  told.length = 0
  socket().onclose({ code: 1006 })
  await settle()
  welcome()
  await settle()
  assert.deepEqual(names(told), ['state', 'state', 'ended', 'calls'])
  assert.equal(told[2][2], 'while_away')
  channel.disconnect()
})

test('sessions are told, and events of a later version do no harm', async () => {
  const { channel, told } = await connected()
  socket().tell({ type: 'session.started', data: { session: { id: 's' } } })
  socket().tell({ type: 'weather.changed', data: null })
  assert.deepEqual(told, [['session', { type: 'session.started', session: { id: 's' } }]])
  channel.disconnect()
})

test('events of conversations are told', async () => {
  const { channel } = await connected()
  const told = []
  channel.on('conversation', (...all) => told.push(all))
  const timestamp = '2026-11-21T14:00:00.000Z'
  socket().tell({ type: 'conversation.event', data: { conversation: 'c', event: { number: 7, type: 'text', user: 'ann', timestamp, text: '<b>' } } })
  socket().tell({ type: 'conversation.event', data: { conversation: 'c', event: { type: 'member:invited', user: 'bob', timestamp } } })
  const at = new Date(timestamp)
  assert.deepEqual(told, [
    ['c', { number: 7, type: 'text', user: 'ann', timestamp: at, text: '<b>' }], ['c', { number: null, type: 'member:invited', user: 'bob', timestamp: at, text: null }],
  ])
  channel.disconnect()
})

test('the oldest of too many devices is told why it receives no more calls', async () => {
  const { told } = await connected()
  socket().onclose({ code: 4105 })
  await settle()
  assert.match(told.at(-1)[1].message, /no longer receives calls/)
})

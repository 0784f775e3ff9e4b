// Starting calls with an account: sessions of calls that are not reached end, and the saved voice stays.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { FakeGateway } from '../support/page.js'
import { settle } from '../support/sockets.js'
import { Room } from '../../../Web/patchbay.js'
import { call } from '../../../Web/playground/model/call.js'
import { commands, endSession, logIn, startCall } from '../../../Web/playground/model/commands.js'
import { store } from '../../../Web/playground/model/store.js'

const user = { email: 'ann@example.org', settings: { has_seen_onboarding: true, voice: 'nova' } }
const start = { mode: 'account', assistant: 'robin', voice: 'nova' }

let gateway
let ended
let changes

beforeEach(async () => {
  let number = 0
  ended = []
  changes = []
  gateway = new FakeGateway({
    'POST /v1/auth/token': { access_token: 'a', refresh_token: 'r' },
    'GET /v1/users/me': user,
    'PATCH /v1/users/me': (_, { settings }) => (changes.push(settings), { ...user, settings: { ...user.settings, ...settings } }),
    'GET /v1/users/me/assistants': { assistants: [] },
    'POST /v1/sessions/start': () => ({ livekit_url: 'wss://g', livekit_token: 't', session_id: `s${++number}` }),
    'POST /v1/sessions/end': (_, { session_id: id }) => (ended.push(id), {}),
  })
  Room.prototype.startAudio = async () => {}
  Room.prototype.disconnect = () => {}
  Room.prototype.connect = async () => {}
  store.dispatch('support', { support: { audio: false, listening: true } })
  await logIn('ann@example.org', 'password')
})

test('the session of a call that fails is ended', async () => {
  Room.prototype.connect = async () => { throw Object.assign(new Error('full'), { code: 'room_full' }) }
  await startCall(start)
  await settle()
  assert.deepEqual([ended, store.state.stage, store.state.problems.at(-1).code], [['s1'], 'start', 'room_full'])
  // Nothing is left to end.
  await endSession()
  assert.deepEqual(ended, ['s1'])
})

test('the session of a call that was given up is ended, also if another call has begun', async () => {
  const { running } = await gateway.hold('POST /v1/sessions/start', () => startCall(start))
  commands['call.leave']()
  await gateway.release()
  await running
  await settle()
  assert.deepEqual([ended, store.state.stage], [['s1'], 'start'])
  const late = await gateway.hold('POST /v1/sessions/start', () => startCall(start))
  commands['call.leave']()
  gateway.held.clear()
  await startCall(start)
  await gateway.release()
  await late.running
  await settle()
  assert.deepEqual(ended, ['s1', 's2'])
  // That of the other call is not.
  endSession()
  await settle()
  assert.deepEqual(ended, ['s1', 's2', 's3'])
  commands['call.close']()
})

test('the saved voice stays unless another one is chosen', async () => {
  for (const voice of [undefined, 'nova', '']) {
    await startCall({ ...start, voice })
    commands['call.close']()
  }
  assert.deepEqual(changes, [{ voice: '' }])
})

test('the session of a call goes on until the call ends', async () => {
  await startCall(start)
  await settle()
  assert.deepEqual(ended, [])
  endSession()
  await settle()
  assert.deepEqual(ended, ['s1'])
  commands['call.close']()
})

test('a clip that is played is not the assistant', async () => {
  await startCall(start)
  const { room } = call
  const clip = { identity: 'speech:0a1b2c3d', kind: 'agent', name: '', connected: true, agentState: null }
  const robin = { identity: 'robin', kind: 'agent', name: 'Robin', connected: true, agentState: 'listening' }
  const join = (participant) => {
    room.remoteParticipants.set(participant.identity, participant)
    room.emit('participantJoined', participant)
  }
  join(clip)
  assert.equal(store.state.agent, null)
  join(robin)
  assert.equal(store.state.agent.identity, 'robin')
  commands['call.close']()
})

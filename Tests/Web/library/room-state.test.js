// The state of a room, from `hello` and events in any order that a connection can bring.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Participant, RoomState } from '../../../Web/patchbay/room-state.js'

const track = (sid, values) => ({ sid, alias: 1, participant: 'robin', name: 'voice', source: 'assistant', mode: 'ahead', muted: false, channels: 1, epoch: 0, ...values })
const person = (identity, values) => ({ sid: `PA_${identity}`, identity, name: '', kind: 'standard', metadata: '', attributes: {}, joined_at: 1, tracks: [], ...values })

/** A room of `me`, and the names of its events. */
class World {
  events = []

  constructor(...participants) {
    this.local = new Participant()
    this.room = new RoomState(this.local, (name, ...values) => this.events.push([name, ...values]))
    this.hello(participants)
  }

  hello(participants, isFresh = true) {
    this.events.length = 0
    const room = { sid: 'RM_1', name: 'lobby', metadata: '' }
    this.room.reset({ room, participant: person('me'), participants, session_id: null }, isFresh)
  }

  apply(type, data) {
    this.events.length = 0
    this.room.apply({ type, data })
    return this.names
  }

  get names() {
    return this.events.map(([name]) => name)
  }
}

test('who is in the room at the join has joined, with tracks', () => {
  const world = new World(person('robin', { tracks: [track('TR_1')] }))
  assert.deepEqual(world.names, ['participantJoined', 'trackPublished', 'activeSpeakers'])
  assert.equal(world.room.track('TR_1').participant, 'robin')
})

test('the room is logged if `hello` says so, and only then', () => {
  const world = new World()
  for (const logged of [true, undefined, false, 'true']) {
    world.room.reset({ room: world.room.info, participant: person('me'), participants: [], session_id: 's', logged }, true)
    assert.equal(world.room.isLogged, logged === true, String(logged))
  }
})

test('after a resume with a snapshot everything unusual is told again', () => {
  const world = new World(person('robin', { tracks: [track('TR_1')] }))
  world.apply('call.held', { participant: 'robin' })
  world.apply('recording.started', { recording: 'RC_1' })
  const hello = { room: world.room.info, participant: person('me'), participants: [person('robin', { tracks: [track('TR_1')] })], snapshot: true }
  world.room.reset(hello, false)
  assert.equal(world.room.participant('robin').held, false)
  assert.equal(world.room.isRecording, false)
  assert.equal(world.room.track('TR_1').sid, 'TR_1')
})

test('after a resume only what has changed is told', () => {
  const world = new World(person('robin', { tracks: [track('TR_1')] }), person('eve'))
  world.apply('call.held', { participant: 'robin' })
  world.hello([person('robin', { tracks: [track('TR_1', { muted: true }), track('TR_2')] })], false)
  assert.deepEqual(world.names, ['participantLeft', 'trackPublished'])
  assert.equal(world.room.track('TR_1').muted, true)
  // The snapshot says what is unusual; a resume does not.
  assert.equal(world.room.participant('robin').held, true)
})

test('a fresh join forgets status, speakers and recording, but not who is there', () => {
  const world = new World(person('robin'))
  for (const type of ['call.held', 'call.muted']) world.apply(type, { participant: 'robin' })
  world.apply('recording.started', {})
  world.apply('speakers.changed', { speakers: [{ participant: 'robin', level: 0.5, active: true }] })
  world.hello([person('robin')])
  const robin = world.room.participant('robin')
  assert.deepEqual([robin.held, robin.callMuted, world.room.isRecording], [false, false, false])
  assert.deepEqual(world.events, [['activeSpeakers', []]])
})

test('the same identity with another sid is somebody else', () => {
  const world = new World(person('robin'))
  world.hello([person('robin', { sid: 'PA_other' })])
  assert.deepEqual(world.names, ['participantLeft', 'participantJoined', 'activeSpeakers'])
})

test('who leaves takes tracks and speech along', () => {
  const world = new World(person('robin', { tracks: [track('TR_1')] }))
  world.apply('speakers.changed', { speakers: [{ participant: 'robin', level: 0.5, active: true }] })
  assert.deepEqual(world.apply('participant.left', { participant: 'robin', reason: 'SIGNAL_CLOSE' }), ['trackUnpublished', 'activeSpeakers', 'participantLeft'])
  assert.deepEqual(world.apply('participant.left', { participant: 'robin', reason: 'again' }), [])
})

test('events about somebody unknown change nothing', () => {
  const world = new World()
  for (const type of ['participant.updated', 'agent.state', 'track.published', 'track.muted', 'call.held', 'talk.started', 'quality.changed', 'participant.left']) {
    assert.deepEqual(world.apply(type, { participant: 'nobody', track: 'TR_9' }), [], type)
  }
})

test('unknown events are ignored, also those named like members of objects', () => {
  const world = new World()
  for (const type of ['from.the.future', 'constructor', '__proto__', 'toString']) assert.deepEqual(world.apply(type, {}), [], type)
  assert.deepEqual(world.apply('no.data', undefined), [])
})

test('speakers are told loudest first', () => {
  const world = new World()
  world.apply('speakers.changed', { speakers: [{ participant: 'a', level: 0.1, active: true }, { participant: 'b', level: 0.9, active: true }] })
  assert.deepEqual(world.events[0][1].map(({ identity }) => identity), ['b', 'a'])
  world.apply('speakers.changed', { speakers: [{ participant: 'b', level: 0, active: false }] })
  assert.deepEqual(world.events[0][1], [{ identity: 'a', level: 0.1 }])
})

test('a cleared utterance moves its track to the new epoch', () => {
  const world = new World(person('robin', { tracks: [track('TR_1', { epoch: 255 })] }))
  world.apply('playout.cleared', { track: 'TR_1', epoch: 0, played_ms: 10, discarded_ms: 5, by: 'me', reason: 'button' })
  assert.equal(world.room.track('TR_1').epoch, 0)
  assert.deepEqual(world.events[0][1], { type: 'cleared', participant: 'robin', track: 'TR_1', playedMs: 10, discardedMs: 5, by: 'me', reason: 'button' })
})

test('an assistant waits until it joins or nobody comes', () => {
  const world = new World()
  world.apply('agent.waiting', { participant: 'robin', reason: 'busy' })
  assert.equal(world.room.waiting.get('robin'), 'busy')
  world.apply('participant.joined', person('robin', { kind: 'agent' }))
  assert.equal(world.room.waiting.size, 0)
  world.apply('agent.waiting', { participant: 'ann', reason: 'no_worker' })
  world.apply('agent.waiting', { participant: 'ann', reason: 'ended' })
  assert.equal(world.room.waiting.size, 0)
})

test('data is text, JSON or bytes', () => {
  const world = new World()
  const received = (data) => {
    world.apply('data', { participant: 'eve', topic: 't', ...data })
    return world.events[0][1]
  }
  assert.deepEqual(received({ payload: '{"x":1}' }), { participant: 'eve', topic: 't', payload: '{"x":1}', object: { x: 1 } })
  assert.deepEqual(received({ payload: '{"x":' }), { participant: 'eve', topic: 't', payload: '{"x":' })
  assert.deepEqual(received({ payload_base64: '/wA=' }), { participant: 'eve', topic: 't', payload: Uint8Array.of(255, 0) })
  assert.deepEqual(received({ payload_base64: btoa('[2]') }).object, [2])
})

test('the state of an assistant is in its attributes when it joins', () => {
  const world = new World(person('robin', { kind: 'agent', attributes: { 'lk.agent.state': 'listening' } }))
  assert.equal(world.room.participant('robin').agentState, 'listening')
  world.apply('agent.state', { participant: 'robin', state: 'thinking' })
  assert.equal(world.room.participant('robin').agentState, 'thinking')
})

test('a connection that is lost and restored is told', () => {
  const world = new World(person('robin'))
  world.apply('participant.updated', person('robin', { participant: 'robin', connection: 'reconnecting' }))
  assert.equal(world.room.participant('robin').connected, false)
  world.apply('participant.updated', person('robin', { participant: 'robin', connection: 'connected' }))
  assert.equal(world.room.participant('robin').connected, true)
})

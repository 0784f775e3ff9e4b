// The widget's listener to the room of a call: which participant is the assistant.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Emitter } from '../../../Web/patchbay/events.js'
import { RoomListener } from '../../../Web/widget/model/room-listener.js'

/** Returns the events about assistants that the state machine receives for these participants. */
function told(participants, agent = null) {
  const events = []
  const session = {
    state: { call: { phase: 'connected', agent } },
    send: (type, { identity }) => events.push(identity ? `${type} ${identity}` : type),
  }
  const room = Object.assign(new Emitter(), { remoteParticipants: new Map(participants.map((one) => [one.identity, one])), waitingAgents: new Map() })
  new RoomListener(/** @type {any} */ (room), 1, () => true, session).noteAgent()
  return events
}

const robin = { identity: 'robin', kind: 'agent', name: 'Robin', connected: true }
const clip = { identity: 'speech:0a1b2c3d4e5f6071', kind: 'agent', name: '', connected: true }

test('a clip that is played is not the assistant', () => {
  assert.deepEqual(told([clip]), ['agentAwaited', 'agentWaiting'])
  assert.deepEqual(told([clip, robin]), ['agentPresent robin'])
  assert.deepEqual(told([clip], { identity: 'robin' }), ['agentGone robin', 'agentAwaited', 'agentWaiting'])
})

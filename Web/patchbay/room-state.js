// What is known of the room, from `hello` and events (docs/protocol/events.md), and the listeners' events that follow.

import { SegmentList } from './segment-list.js'
import { readAssistantMessage } from './assistant.js'

/**
 * @typedef {import('../patchbay.js').RoomEvents} RoomEvents
 * @typedef {import('../patchbay.js').Participant} DeclaredParticipant
 */

/** What a snapshot of a room leaves out, because it is usual. */
const usualStatus = { connected: true, held: false, callMuted: false, quality: 'excellent', speaking: false }

/** @implements {DeclaredParticipant} */
export class Participant {
  sid = ''
  identity = ''
  name = ''
  /** @type {import('../patchbay.js').Participant['kind']} */
  kind = 'standard'
  metadata = ''
  /** @type {Record<string, string>} */
  attributes = {}
  joinedAt = new Date(0)
  /** @type {Map<string, import('../patchbay.js').Track>} */
  tracks = new Map()
  connected = true
  held = false
  callMuted = false
  /** @type {import('../patchbay.js').Quality} */
  quality = 'excellent'
  speaking = false
}

export class RoomState {
  info = { sid: '', name: '', metadata: '' }
  sessionId = null
  isLogged = false
  isRecording = false
  /** @type {Map<string, Participant>} */
  remote = new Map()
  // Why assistants that were asked for are not here yet, by identity.
  /** @type {Map<string, import('../patchbay.js').WaitReason>} */
  waiting = new Map()
  transcript = new SegmentList()
  #local
  #emit
  #speakers = new Map()

  /**
   * @param {Participant} local
   * @param {<Name extends keyof RoomEvents>(name: Name, ...values: Parameters<RoomEvents[Name]>) => void} emit
   */
  constructor(local, emit) {
    this.#local = local
    this.#emit = emit
  }

  /** @returns {Participant | undefined} */
  participant(identity) {
    return identity === this.#local.identity ? this.#local : this.remote.get(identity)
  }

  /** Finds a track by sid, of anyone. */
  track(sid) {
    for (const participant of [this.#local, ...this.remote.values()]) {
      const track = participant.tracks.get(sid)
      if (track) return track
    }
  }

  /** A call begins: its transcript is a new one. */
  begin() {
    this.transcript = new SegmentList()
  }

  /** Replaces the state; participants that are gone or new are reported. */
  reset({ room, participant, participants, session_id: sessionId, logged, snapshot }, isJoin) {
    const isFresh = isJoin || snapshot === true
    // What still waits follows a fresh `hello`.
    if (isFresh) this.waiting.clear()
    this.info = room
    this.sessionId = sessionId ?? null
    this.isLogged = logged === true
    // The snapshot that follows a fresh `hello` names only what is unusual.
    if (isFresh) for (const known of [this.#local, ...this.remote.values()]) Object.assign(known, usualStatus)
    describe(this.#local, participant)
    const present = new Map(participants.map((description) => [description.identity, description]))
    for (const [known, { sid }] of this.remote) if (present.get(known)?.sid !== sid) this.#remove(known, 'SIGNAL_CLOSE')
    for (const description of participants) {
      const known = this.remote.get(description.identity)
      if (!known) this.#add(description)
      else {
        describe(known, description)
        this.#replaceTracks(known, description.tracks)
      }
    }
    if (isFresh) {
      this.isRecording = false
      this.#speakers.clear()
      this.#emit('activeSpeakers', [])
    }
  }

  #add(description) {
    const participant = describe(new Participant(), description)
    this.remote.set(participant.identity, participant)
    this.waiting.delete(participant.identity)
    this.#emit('participantJoined', participant)
    for (const track of description.tracks ?? []) this.#publish(participant, track)
  }

  #remove(identity, reason) {
    const participant = this.remote.get(identity)
    if (!participant) return
    for (const sid of [...participant.tracks.keys()]) this.#unpublish(participant, sid)
    this.remote.delete(identity)
    if (this.#speakers.delete(identity)) this.#emitSpeakers()
    this.#emit('participantLeft', participant, reason)
  }

  #replaceTracks(participant, descriptions = []) {
    const sids = new Set(descriptions.map(({ sid }) => sid))
    for (const sid of [...participant.tracks.keys()]) if (!sids.has(sid)) this.#unpublish(participant, sid)
    for (const description of descriptions) {
      const known = participant.tracks.get(description.sid)
      if (known) Object.assign(known, description)
      else this.#publish(participant, description)
    }
  }

  #publish(participant, description) {
    const track = { ...description }
    participant.tracks.set(track.sid, track)
    this.#emit('trackPublished', track, participant)
  }

  #unpublish(participant, sid) {
    const track = participant?.tracks.get(sid)
    if (!track) return
    participant.tracks.delete(sid)
    participant.speaking = false
    this.#emit('trackUnpublished', track, participant)
  }

  #emitSpeakers() {
    const speakers = [...this.#speakers].map(([identity, level]) => ({ identity, level }))
    this.#emit('activeSpeakers', speakers.sort((a, b) => b.level - a.level))
  }

  /** Applies an event. Unknown ones are ignored, as the protocol requires. */
  apply({ type, data }) {
    const participant = this.participant(data?.participant)
    if (Object.hasOwn(this.#handlers, type)) this.#handlers[type](data, participant)
  }

  #handlers = {
    'participant.joined': (data) => this.#add(data),
    'participant.left': (data) => this.#remove(data.participant, data.reason),
    'participant.updated': (data, participant) => {
      if (!participant) return
      describe(participant, data)
      participant.connected = data.connection !== 'reconnecting'
      if (participant.connected) this.waiting.delete(participant.identity)
      this.#emit('participantUpdated', participant)
    },
    'agent.state': (data, participant) => {
      if (!participant) return
      participant.agentState = data.state
      this.#emit('agentState', participant, data.state)
    },
    'agent.waiting': ({ participant, reason }) => {
      if (reason === 'ended') this.waiting.delete(participant)
      else this.waiting.set(participant, reason)
      this.#emit('agentWaiting', { participant, reason })
    },
    'track.published': (data, participant) => participant && this.#publish(participant, data.track),
    'track.unpublished': (data, participant) => this.#unpublish(participant, data.track),
    'track.muted': (data, participant) => this.#noteMuted(participant, data.track, true),
    'track.unmuted': (data, participant) => this.#noteMuted(participant, data.track, false),
    'call.muted': (data, participant) => this.#noteCall(participant, 'callMuted', true, 'muted'),
    'call.unmuted': (data, participant) => this.#noteCall(participant, 'callMuted', false, 'muted'),
    'call.held': (data, participant) => this.#noteCall(participant, 'held', true, 'held'),
    'call.resumed': (data, participant) => this.#noteCall(participant, 'held', false, 'held'),
    'talk.started': (data, participant) => this.#noteTalk(participant, data, true),
    'talk.stopped': (data, participant) => this.#noteTalk(participant, data, false),
    'speakers.changed': ({ speakers }) => {
      for (const { participant, level, active } of speakers) {
        if (active) this.#speakers.set(participant, level)
        else this.#speakers.delete(participant)
      }
      this.#emitSpeakers()
    },
    'playout.started': (data) => this.#emit('utterance', { type: 'started', participant: data.participant, track: data.track }),
    'playout.finished': (data) =>
      this.#emit('utterance', { type: 'finished', participant: data.participant, track: data.track, playedMs: data.played_ms }),
    'playout.cleared': (data) => {
      const track = this.track(data.track)
      if (track) track.epoch = data.epoch
      this.#emit('utterance', {
        type: 'cleared', participant: track?.participant, track: data.track, playedMs: data.played_ms, discardedMs: data.discarded_ms,
        by: data.by, reason: data.reason,
      })
    },
    'playout.marked': (data) =>
      this.#emit('marked', { track: data.track, name: data.name, status: data.status, playedTs: data.played_ts }),
    'transcript.segment': (data) => {
      const segment = this.transcript.apply(data)
      if (segment) this.#emit('transcript', segment)
    },
    'data': (data) => {
      const message = readData(data)
      this.#emit('data', message)
      const event = readAssistantMessage(message)
      if (event) this.#emit(event.name, event.value)
    },
    'text': ({ participant, id, topic, text }) => this.#emit('text', { participant, id, topic, text }),
    'dtmf': ({ participant, digits }) => this.#emit('dtmf', { participant, digits }),
    'quality.changed': (data, participant) => {
      if (!participant) return
      participant.quality = data.quality
      this.#emit('quality', participant, data.quality)
    },
    'room.updated': ({ room }) => (this.info = room),
    'recording.started': () => this.#noteRecording(true),
    'recording.stopped': ({ reason }) => this.#noteRecording(false, reason),
    'server.draining': ({ deadline }) => this.#emit('draining', new Date(deadline * 1000)),
  }

  #noteMuted(participant, sid, isMuted) {
    const track = participant?.tracks.get(sid)
    if (!track) return
    track.muted = isMuted
    this.#emit('muted', participant, isMuted, track)
  }

  #noteCall(participant, property, value, event) {
    if (!participant) return
    participant[property] = value
    this.#emit(event, participant, value, null)
  }

  #noteTalk(participant, { track, reason }, speaking) {
    if (!participant) return
    participant.speaking = speaking
    this.#emit('talk', { participant: participant.identity, track, speaking, ...(reason && { reason }) })
  }

  #noteRecording(isActive, reason) {
    this.isRecording = isActive
    this.#emit('recording', { active: isActive, ...(reason && { reason }) })
  }
}

/** Copies the description that `hello` and events contain. */
function describe(participant, { sid, identity, name, kind, metadata, attributes, joined_at: joinedAt }) {
  const agentState = attributes?.['lk.agent.state']
  Object.assign(participant, { sid, identity, name, kind, metadata, attributes, joinedAt: new Date(joinedAt * 1000) })
  if (agentState) participant.agentState = agentState
  return participant
}

function readData({ participant, topic, payload, payload_base64: base64 }) {
  /** @type {Parameters<RoomEvents['data']>[0]} */
  const message = { participant, topic, payload: payload ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) }
  try {
    message.object = JSON.parse(payload ?? new TextDecoder('utf-8', { fatal: true }).decode(/** @type {Uint8Array} */ (message.payload)))
  } catch {
    // Not JSON.
  }
  return message
}

// The room: joins connection, state, microphone and playout, and is what pages use. `../patchbay.d.ts` documents it.

import { ASSISTANT_TOPIC } from './assistant.js'
import { Connection } from './connection.js'
import { ConnectError, Emitter, RequestError } from './events.js'
import { LocalParticipant } from './local-participant.js'
import { AudioOutput } from './output.js'
import { ReceivedTrack } from './received-track.js'
import { RemoteProcedures } from './rpc.js'
import { RoomState } from './room-state.js'
import { decodeMessage } from './wire.js'

const START_DELAY_MS = 60

export class Room extends Emitter {
  localParticipant
  #options
  #status = 'disconnected'
  #connection
  #output
  #room
  #procedures
  // By alias.
  #received = new Map()
  // Of tracks that have ended.
  #ended = { framesReceived: 0, framesLost: 0, framesCleared: 0, late: 0, skipped: 0, underruns: 0 }
  #gateway = null
  #isCancelled = false

  constructor(options = {}) {
    super()
    this.#options = { startDelay: START_DELAY_MS, ...options }
    this.#output = new AudioOutput(this.#options)
    this.#output.on('blocked', () => this.emit('audioBlocked')).on('started', () => this.emit('audioStarted'))
    this.#connection = new Connection(
      {
        opened: (hello, isFresh) => this.#opened(hello, isFresh),
        message: (message) => this.#message(message),
        media: (buffer) => this.#media(buffer),
        interrupted: () => this.#setStatus('reconnecting'),
        ended: (end) => this.#close(end),
      },
      { autoSubscribe: this.#options.autoSubscribe, attempts: this.#options.reconnectAttempts })
    this.localParticipant = new LocalParticipant(this.#connection, this.#output, (reason) => this.emit('microphoneEnded', reason))
    this.#room = new RoomState(this.localParticipant, (name, ...values) => this.#noteState(name, values))
    this.#procedures = new RemoteProcedures(this.#connection)
  }

  get state() { return this.#status }
  get name() { return this.#room.info.name }
  get sid() { return this.#room.info.sid }
  get metadata() { return this.#room.info.metadata }
  get sessionId() { return this.#room.sessionId }
  get recording() { return this.#room.isRecording }
  get remoteParticipants() { return this.#room.remote }
  get transcript() { return this.#room.transcript.segments }
  get audioBlocked() { return this.#output.isBlocked }

  async connect(url, token) {
    if (this.#status !== 'disconnected') throw new Error('The room is already connected.')
    this.#setStatus('connecting')
    this.#isCancelled = false
    try {
      await this.#output.prepare()
      if (this.#isCancelled) throw new ConnectError('cancelled', 'The connection was cancelled.')
      await this.#connection.open(url, token)
    } catch (error) {
      await this.#output.close()
      this.#setStatus('disconnected')
      throw error
    }
  }

  disconnect() {
    if (this.#status === 'disconnected') return
    this.#isCancelled = true
    this.#connection.close()
    // A pending `connect` reports its own end.
    if (this.#status !== 'connecting') this.#close({ code: 1000, reason: 'CLIENT_INITIATED', message: 'The call has ended.', retryable: false })
  }

  async startAudio() {
    await this.#output.prepare()
    await this.#output.resume()
  }

  async setOutputDevice(deviceId) {
    await this.#output.prepare()
    await this.#output.setDevice(deviceId)
  }

  setVolume(volume, identity = null) {
    this.#output.setVolume(volume, identity)
  }

  level(identity) {
    if (identity === this.localParticipant.identity) return this.localParticipant.level
    let level = -127
    for (const { alias } of this.#room.remote.get(identity)?.tracks.values() ?? []) level = Math.max(level, this.#received.get(alias)?.level ?? -127)
    return level
  }

  tap(identity, listener) {
    if (identity === null) return this.#output.tap(null, listener)
    const isPlayed = identity !== this.localParticipant.identity
    return this.#output.tap(this.#output.bus(identity, { isPlayed }), listener)
  }

  sendText(text, { topic, to } = {}) {
    return this.request('text.send', { text, topic, to })
  }

  async sendData(topic, object, { to } = {}) {
    await this.request('data.send', { topic, to, ...encodePayload(object) })
  }

  async sendDTMF(digits) {
    await this.request('dtmf.send', { digits })
  }

  performRpc(identity, method, payload = '', options = {}) {
    return this.#procedures.perform(identity, method, payload, options)
  }

  registerRpcMethod(method, handler) {
    this.#procedures.register(method, handler)
  }

  unregisterRpcMethod(method) {
    this.#procedures.unregister(method)
  }

  async sendCardAction(card, action, fields) {
    await this.sendData(ASSISTANT_TOPIC, { type: 'card.action', data: { card, action, ...(fields && { fields }) } })
  }

  async startOnboarding() {
    await this.sendData(ASSISTANT_TOPIC, { type: 'onboarding.start', data: {} })
  }

  async clearPlayout({ identity, reason } = {}) {
    const tracks = [...this.#room.remote.values()].flatMap((participant) => [...participant.tracks.values()])
    const cleared = tracks.filter(({ mode, participant }) => mode === 'ahead' && (identity === undefined || participant === identity))
    await Promise.all(cleared.map(async ({ sid, alias }) => {
      const received = this.#received.get(alias)
      // At once: the gateway only confirms it.
      received?.silence()
      try {
        await this.request('playout.clear', { track: sid, reason })
      } catch (error) {
        received?.unsilence()
        throw error
      }
    }))
  }

  async setSubscribed(track, subscribed) {
    await this.request('track.subscribe', { track, subscribed })
  }

  request(type, data = {}) {
    if (this.#status !== 'connected') return Promise.reject(new RequestError('connection_lost', 'There is no connection.', true))
    return this.#connection.request(type, data)
  }

  stats() {
    const tracks = [...this.#received.values()]
    const sum = (key, ofTrack) => tracks.reduce((total, track) => total + ofTrack(track), this.#ended[key])
    const most = (ofTrack) => tracks.reduce((most, track) => Math.max(most, ofTrack(track) ?? 0), 0)
    return {
      rtt: this.#connection.rtt,
      jitter: most(({ report }) => report.jitter),
      playoutDelay: most(({ report }) => report.delay),
      buffered: most(({ report }) => report.buffered / 48),
      outputLatency: this.#output.latency,
      framesReceived: sum('framesReceived', (track) => track.framesReceived),
      framesLost: sum('framesLost', (track) => track.framesLost),
      framesCleared: sum('framesCleared', (track) => track.framesCleared),
      framesLate: sum('late', ({ report }) => report.late),
      skipped: sum('skipped', ({ report }) => report.skipped),
      underruns: sum('underruns', ({ report }) => report.underruns),
      framesSent: this.localParticipant.framesSent,
      microphoneDropped: this.localParticipant.framesDropped,
      reconnects: this.#connection.reconnects,
      gateway: this.#gateway,
    }
  }

  #setStatus(status) {
    if (status === this.#status) return
    this.#status = status
    this.emit('state', status)
  }

  #opened(hello, isFresh) {
    this.emit('event', hello)
    this.#room.reset(hello.data, isFresh)
    this.localParticipant.reconnected(hello.data.participant.tracks)
    this.#setStatus('connected')
  }

  #message(message) {
    this.emit('event', message)
    if (message.type === 'rpc.request') this.#procedures.answer(message.data)
    else if (message.type === 'stats') {
      const { sent, dropped, late_p99_ms: lateP99 } = message.data
      this.#gateway = { sent, dropped, lateP99 }
    } else this.#room.apply(message)
  }

  /** What a change of state means for audio; then the listeners. */
  #noteState(name, values) {
    const [subject] = values
    if (name === 'trackUnpublished') {
      this.#endTrack(subject)
      this.localParticipant.noteTrack(subject, false)
    } else if (name === 'participantLeft') this.#output.removeBus(subject.identity)
    else if (name === 'muted' && values[2]) this.localParticipant.noteTrack(values[2], true)
    else if (name === 'utterance' && subject.type === 'cleared') {
      const track = this.#room.track(subject.track)
      if (track) this.#received.get(track.alias)?.clear(track.epoch)
    }
    this.emit(name, ...values)
  }

  #media(buffer) {
    for (const frame of decodeMessage(buffer)) {
      const received = this.#received.get(frame.alias) ?? this.#beginTrack(frame.alias)
      received?.receive(frame)
    }
  }

  #beginTrack(alias) {
    for (const participant of this.#room.remote.values()) {
      for (const track of participant.tracks.values()) {
        if (track.alias !== alias) continue
        const received = new ReceivedTrack(track, this.#output, this.#options.startDelay, {
          progress: (report) => this.#connection.notify('playout.progress', report),
          heard: (heardTrack, ts) => {
            const position = this.hasListeners('playout') && this.#room.transcript.position(heardTrack, ts)
            if (position) this.emit('playout', position)
          },
        })
        this.#received.set(alias, received)
        return received
      }
    }
  }

  #endTrack({ alias, participant }) {
    if (participant === this.localParticipant.identity) return
    const track = this.#received.get(alias)
    if (!track) return
    this.#received.delete(alias)
    for (const key of ['framesReceived', 'framesLost', 'framesCleared']) this.#ended[key] += track[key]
    for (const key of ['late', 'skipped', 'underruns']) this.#ended[key] += track.report[key]
    track.close()
  }

  #close(end) {
    for (const track of this.#received.values()) track.close()
    this.#received.clear()
    this.localParticipant.close()
    this.#room.remote.clear()
    this.#output.close()
    this.#setStatus('disconnected')
    this.emit('disconnected', end)
  }
}

function encodePayload(object) {
  if (typeof object === 'string') return { payload: object }
  if (object instanceof Uint8Array) return { payload_base64: btoa(Array.from(object, (byte) => String.fromCharCode(byte)).join('')) }
  return { payload: JSON.stringify(object) }
}

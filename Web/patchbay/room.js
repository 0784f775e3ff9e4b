// The room: joins connection, state, microphone and playout, and is what pages use. `../patchbay.d.ts` documents it.

import { ASSISTANT_TOPIC } from './assistant.js'
import { Connection } from './connection.js'
import { ConnectError, Emitter } from './events.js'
import { LocalParticipant } from './local-participant.js'
import { AudioOutput } from './output.js'
import { ReceivedTrack } from './received-track.js'
import { ReceivedTracks } from './received-tracks.js'
import { RemoteProcedures } from './rpc.js'
import { RoomState } from './room-state.js'
import { decodeMessage } from './wire.js'

const START_DELAY_MS = 60

/**
 * @typedef {import('../patchbay.js').Room} DeclaredRoom
 * @extends {Emitter<import('../patchbay.js').RoomEvents>}
 * @implements {DeclaredRoom}
 */
export class Room extends Emitter {
  localParticipant
  #options
  /** @type {import('../patchbay.js').RoomState} */
  #status = 'disconnected'
  #connection
  #output
  #room
  #procedures
  #received = new ReceivedTracks((alias) => this.#openTrack(alias))
  // What was asked for by `setSubscribed`, by track.
  #subscriptions = new Map()
  #gateway = null
  #isCancelled = false

  /** @param {import('../patchbay.js').RoomOptions} options */
  constructor(options = {}) {
    super()
    this.#options = { startDelay: START_DELAY_MS, ...options }
    this.#output = new AudioOutput(this.#options)
    this.#output.on('blocked', (reason) => this.emit('audioBlocked', reason)).on('started', () => this.emit('audioStarted'))
    this.#connection = new Connection(
      {
        opened: (hello, isFresh) => this.#opened(hello, isFresh),
        message: (message) => this.#message(message),
        media: (buffer) => decodeMessage(buffer).forEach((frame) => this.#received.receive(frame)),
        interrupted: () => this.#setStatus('reconnecting'),
        ended: (end) => this.#close(end),
      },
      { autoSubscribe: this.#options.autoSubscribe, attempts: this.#options.reconnectAttempts })
    this.localParticipant = new LocalParticipant(this.#connection, this.#output, {
      microphoneEnded: (reason) => this.emit('microphoneEnded', reason),
      localTrackEnded: (track, reason) => this.emit('localTrackEnded', track, reason),
    })
    this.#room = new RoomState(this.localParticipant, (name, ...values) => this.#noteState(name, values))
    this.#procedures = new RemoteProcedures(this.#connection)
  }

  get state() { return this.#status }
  get name() { return this.#room.info.name }
  get sid() { return this.#room.info.sid }
  get metadata() { return this.#room.info.metadata }
  get sessionId() { return this.#room.sessionId }
  get logged() { return this.#room.isLogged }
  get recording() { return this.#room.isRecording }
  get remoteParticipants() { return this.#room.remote }
  get waitingAgents() { return this.#room.waiting }
  get transcript() { return this.#room.transcript.segments }
  get audioBlocked() { return this.#output.blockage !== null }
  get audioBlockage() { return this.#output.blockage }

  async connect(url, token) {
    if (this.#status !== 'disconnected') throw new Error('The room is already connected.')
    this.#setStatus('connecting')
    this.#isCancelled = false
    this.#room.begin()
    this.#subscriptions.clear()
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
    // `startAudio` or the microphone may have been first.
    if (this.#status === 'disconnected') return this.#release()
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
    if (!this.#output.isSupported) return () => {}
    if (identity === null) return this.#output.tap(null, listener)
    const isPlayed = identity !== this.localParticipant.identity
    return this.#output.tap(this.#output.bus(identity, { isPlayed }), listener)
  }

  /**
   * @param {string} text
   * @param {{ topic?: string, to?: string[] }} options
   */
  sendText(text, { topic, to } = {}) {
    return this.request('text.send', { text, topic, to })
  }

  /**
   * @param {string} topic
   * @param {unknown} object
   * @param {{ to?: string[] }} options
   */
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

  async sendCardAction(card, action, fields = undefined) {
    await this.sendData(ASSISTANT_TOPIC, { type: 'card.action', data: { card, action, ...(fields && { fields }) } })
  }

  async startOnboarding() {
    await this.sendData(ASSISTANT_TOPIC, { type: 'onboarding.start', data: {} })
  }

  /** @param {{ identity?: string, reason?: string }} options */
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
    this.#subscriptions.set(track, subscribed)
  }

  request(type, data = {}) {
    return this.#connection.request(type, data)
  }

  stats() {
    return {
      ...this.#received.stats(),
      rtt: this.#connection.rtt,
      outputLatency: this.#output.latency,
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
    const isHeld = this.#status === 'reconnecting' && this.localParticipant.held
    this.emit('event', hello)
    this.#room.reset(hello.data, isFresh)
    // A listener may have disconnected.
    if (!this.#connection.isOpen) return
    this.localParticipant.reconnected(hello.data.participant.tracks)
    this.#procedures.opened(isFresh)
    if (isFresh || hello.data.snapshot === true) this.#restore(isHeld)
    this.#setStatus('connected')
  }

  /** After a lost session the gateway knows a new participant; after a loss of its node it may lack the latest changes. */
  #restore(isHeld) {
    this.#received.resync()
    if (isHeld) {
      this.localParticipant.held = true
      this.localParticipant.setHeld(true).catch(() => (this.localParticipant.held = false))
    }
    for (const [track, subscribed] of this.#subscriptions) {
      if (this.#room.track(track)) this.setSubscribed(track, subscribed).catch(() => {})
      else this.#subscriptions.delete(track)
    }
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
      if (subject.participant !== this.localParticipant.identity) this.#received.end(subject.alias)
      this.#subscriptions.delete(subject.sid)
      this.localParticipant.noteUnpublished(subject)
    } else if (name === 'participantLeft') this.#output.removeBus(subject.identity)
    else if (name === 'utterance' && subject.type === 'cleared') {
      const track = this.#room.track(subject.track)
      if (track) this.#received.get(track.alias)?.clear(track.epoch)
    }
    this.emit(name, ...values)
  }

  /** Returns undefined also if the browser cannot play: the frames are ignored. */
  #openTrack(alias) {
    if (!this.#output.isSupported) return
    for (const participant of this.#room.remote.values()) {
      for (const track of participant.tracks.values()) {
        if (track.alias !== alias) continue
        return new ReceivedTrack(track, this.#output, this.#options.startDelay, {
          progress: (report) => this.#connection.notify('playout.progress', report),
          heard: (heardTrack, ts) => {
            const position = this.hasListeners('playout') && this.#room.transcript.position(heardTrack, ts)
            if (position) this.emit('playout', position)
          },
        })
      }
    }
  }

  #close(end) {
    this.#received.close()
    this.#room.remote.clear()
    this.#room.waiting.clear()
    this.#release()
    this.#setStatus('disconnected')
    this.emit('disconnected', end)
  }

  #release() {
    this.localParticipant.close()
    this.#output.close()
  }
}

function encodePayload(object) {
  if (typeof object === 'string') return { payload: object }
  if (object instanceof Uint8Array) return { payload_base64: btoa(Array.from(object, (byte) => String.fromCharCode(byte)).join('')) }
  return { payload: JSON.stringify(object) }
}

// The call: owns the room of patchbay.js and turns its events into actions. What views do with the room goes through here.

import { Room } from '../../patchbay.js'
import { isInCall } from './state.js'
import { store } from './store.js'

// How long a room may be without an assistant before the page says so.
const ASSISTANT_TIMEOUT_MS = 10_000
// A browser that asks for the microphone waits for its user; one that need not ask answers sooner than this.
const PROMPT_MS = 700

class Call {
  #room = null
  #agentTimer = 0
  #hasDevelopment = false

  /** The room, or null; views read levels and statistics from it and never change it. */
  get room() {
    return this.#room
  }

  /** Returns the room to connect. Must be called in an event handler of a user's gesture, so that the browser plays sound. */
  prepare() {
    this.#room?.disconnect()
    const { speaker } = store.state.devices
    this.#room = new Room(speaker ? { outputDevice: speaker } : {})
    this.#listen(this.#room)
    // Rejects where the browser wants another gesture, which `audioBlocked` reports.
    this.#room.startAudio().catch(() => {})
    return this.#room
  }

  /** Does nothing if the room was closed in the meantime. */
  async connect(room, { url, token }) {
    if (room !== this.#room) return
    await room.connect(url ?? null, token)
    if (room !== this.#room) return
    const { identity } = room.localParticipant
    this.#hasDevelopment = store.state.room.mode === 'development'
    store.dispatch('room.joined', { name: room.name, identity })
    this.#watchAgent()
    // As events that arrived with `hello` may be older than the listeners' state.
    if (room.audioBlocked) store.dispatch('problem.add', { key: 'audio' })
    await this.enableMicrophone()
  }

  async enableMicrophone() {
    const room = this.#room
    if (room?.state !== 'connected') return
    const { microphone } = store.state.devices
    store.dispatch('microphone.state', { value: 'waiting' })
    const timer = setTimeout(() => {
      if (room === this.#room && room.state !== 'disconnected') store.dispatch('problem.add', { key: 'microphone', code: 'waiting' })
    }, PROMPT_MS)
    try {
      await room.localParticipant.setMicrophoneEnabled(true, microphone ? { deviceId: microphone } : {})
      clearTimeout(timer)
      if (room !== this.#room) return
      store.dispatch('microphone.state', { value: 'on' })
      this.#noteMuted()
      store.dispatch('problem.remove', { key: 'microphone' })
    } catch (error) {
      clearTimeout(timer)
      if (room !== this.#room || room.state === 'disconnected') return
      store.dispatch('microphone.state', { value: 'off' })
      store.dispatch('problem.add', { key: 'microphone', code: error.code, message: error.message })
    }
  }

  setMuted(isMuted) {
    return this.#attempt(async (room) => {
      await room.localParticipant.setMuted(isMuted)
      if (room === this.#room) this.#noteMuted()
    })
  }

  setHeld(isHeld) {
    return this.#attempt(async (room) => {
      await room.localParticipant.setHeld(isHeld)
      store.dispatch('held', { isHeld })
    })
  }

  interrupt() {
    return this.#attempt((room) => room.clearPlayout({ reason: 'barge-in' }))
  }

  /** Returns whether the text was sent. */
  sendText(text) {
    return this.#attempt(async (room) => {
      await room.sendText(text)
      store.dispatch('line', { line: { kind: 'typed', name: '', text } })
    })
  }

  async startAudio() {
    await this.#room?.startAudio().catch(() => {})
  }

  /** A call that begins later is told then. */
  async setSpeaker(id) {
    if (!isInCall(store.state)) return
    try {
      await this.#room?.setOutputDevice(id)
      store.dispatch('problem.remove', { key: 'device' })
    } catch (error) {
      store.dispatch('problem.add', { key: 'device', message: error.message })
    }
  }

  leave() {
    this.#room?.disconnect()
  }

  /** Forgets the room, for example after a failed start. */
  close() {
    clearTimeout(this.#agentTimer)
    const room = this.#room
    this.#room = null
    room?.disconnect()
  }

  async #attempt(action) {
    if (!this.#room) return false
    try {
      await action(this.#room)
      store.dispatch('problem.remove', { key: 'request' })
      return true
    } catch (error) {
      store.dispatch('problem.add', { key: 'request', message: error.message })
      return false
    }
  }

  #listen(room) {
    const on = (name, listener) => room.on(name, (...values) => room === this.#room && listener(...values))
    const note = (name, data) => store.dispatch('event', { source: 'page', name, data })

    on('event', ({ type, data }) => store.dispatch('event', { source: 'gateway', name: type, data: withoutSecrets(data) }))
    on('state', (value) => {
      note('state', { state: value })
      if (value !== 'disconnected') store.dispatch('room.state', { value })
      if (value === 'connected') this.#noteMuted()
      if (value === 'reconnecting') {
        clearTimeout(this.#agentTimer)
        store.dispatch('problem.remove', { key: 'agent' })
        store.dispatch('problem.add', { key: 'connection', code: 'reconnecting' })
      }
      if (value === 'connected' && store.state.problems.some(({ key }) => key === 'connection')) {
        store.dispatch('problem.remove', { key: 'connection' })
        this.#watchAgent()
      }
    })
    for (const name of ['participantJoined', 'participantUpdated']) on(name, () => this.#watchAgent())
    on('participantLeft', ({ identity }, reason) => {
      if (store.state.agent?.identity !== identity) return
      store.dispatch('agent.gone', { identity })
      if (reason !== 'CLIENT_INITIATED' && reason !== 'ROOM_DELETED') store.dispatch('problem.add', { key: 'agent', code: 'lost' })
    })
    on('agentState', ({ identity }, value) => store.dispatch('agent.state', { identity, value }))
    on('transcript', (segment) => store.dispatch('segment', { segment, name: this.#nameOf(segment.participant) }))
    on('playout', (position) => store.dispatch('playout', { position }))
    on('text', ({ participant, text }) => store.dispatch('line', { line: { kind: 'message', name: this.#nameOf(participant), text } }))
    on('tool', ({ type, name, message }) => {
      const text = { started: `Tool ${name} started`, finished: `Tool ${name} finished`, failed: `Tool ${name} failed: ${message}` }[type]
      store.dispatch('line', { line: { kind: 'note', name: '', text } })
    })
    on('turnMetrics', (metrics) => store.dispatch('turn', { metrics }))
    on('held', ({ identity }, isHeld) => identity === room.localParticipant.identity && store.dispatch('held', { isHeld }))
    // Also by others.
    on('muted', ({ identity }, _, track) => track && identity === room.localParticipant.identity && this.#noteMuted())
    on('recording', ({ active }) => store.dispatch('room.recorded', { isActive: active }))
    on('audioBlocked', () => {
      note('audioBlocked')
      store.dispatch('problem.add', { key: 'audio' })
    })
    on('audioStarted', () => store.dispatch('problem.remove', { key: 'audio' }))
    on('microphoneEnded', (reason) => {
      note('microphoneEnded', { reason })
      store.dispatch('microphone.state', { value: 'off' })
      store.dispatch('problem.add', { key: 'microphone', code: 'ended', message: reason })
    })
    on('draining', (deadline) => store.dispatch('problem.add', { key: 'connection', code: 'draining', deadline: Number(deadline) }))
    on('disconnected', ({ reason, code, message }) => {
      clearTimeout(this.#agentTimer)
      note('disconnected', { reason, code, message })
      store.dispatch('problem.add', { key: 'ended', code: reason, message, number: code })
      store.dispatch('call.ended')
    })
  }

  #noteMuted() {
    store.dispatch('microphone.muted', { isMuted: this.#room.localParticipant.muted })
  }

  /** Notes the assistant of the room, or that there is none after a while. */
  #watchAgent() {
    clearTimeout(this.#agentTimer)
    const agents = [...this.#room.remoteParticipants.values()].filter(({ kind }) => kind === 'agent')
    const known = store.state.agent
    const agent = agents.find(({ identity }) => identity === known?.identity) ?? agents[0]
    if (agent) {
      const isNew = known?.identity !== agent.identity || known.state === 'gone'
      if (isNew) store.dispatch('agent.present', { identity: agent.identity, name: agent.name, value: agent.agentState })
      store.dispatch('problem.remove', { key: 'agent' })
    } else {
      this.#agentTimer = setTimeout(() => {
        store.dispatch('problem.add', { key: 'agent', code: 'missing', hasDevelopment: this.#hasDevelopment })
      }, ASSISTANT_TIMEOUT_MS)
    }
  }

  #nameOf(identity) {
    const { localParticipant, remoteParticipants } = this.#room
    if (identity === localParticipant.identity) return 'You'
    const participant = remoteParticipants.get(identity)
    return participant?.name || (participant?.kind === 'agent' ? 'Assistant' : identity)
  }
}

/** Tokens do not belong on a screen that others may see. */
function withoutSecrets(data) {
  const hidden = ['token', 'resume_token'].filter((name) => typeof data?.[name] === 'string')
  return hidden.length ? { ...data, ...Object.fromEntries(hidden.map((name) => [name, '(hidden)'])) } : data
}

export const call = new Call()

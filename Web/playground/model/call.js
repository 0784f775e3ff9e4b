// The call: owns the room of patchbay.js and turns its events into actions. What views do with the room goes through here.

import { Room } from '../../patchbay.js'
import { assistantsIn } from '../../shared/assistants.js'
import { GONE_MS, MISSING_MS, PROMPT_MS } from '../../shared/waits.js'
import { texts } from './language.js'
import { StallWatch } from './stall-watch.js'
import { isInCall } from './state.js'
import { store } from './store.js'

/** @typedef {import('../../patchbay.js').RoomEvents} RoomEvents */

class Call {
  /** @type {Room | null} */
  #room = null
  // Until the page says that the assistant is missing or gone; 0 if nothing is awaited.
  #agentTimer = 0
  #hasDevelopment = false
  #stalls = new StallWatch(
    () => this.#room?.request('ping', { t: Math.round(performance.now()) }) ?? Promise.resolve(),
    (isStalled) => store.dispatch(isStalled ? 'problem.add' : 'problem.remove', { key: 'stall', code: 'call' }))

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

  /** Joins a room, unless it was closed in the meantime. `admitted` is called as soon as the gateway has responded. */
  async connect(room, { url = null, token }, admitted = () => {}) {
    if (room !== this.#room) return
    await room.connect(url, token)
    admitted()
    if (room !== this.#room) return
    const { identity } = room.localParticipant
    this.#hasDevelopment = store.state.room.mode === 'development'
    store.dispatch('room.joined', { name: room.name, identity, isLogged: room.logged })
    this.#watchAgent()
    // As events that arrived with `hello` may be older than the listeners' state.
    if (room.audioBlocked) this.#tellOfSound(room.audioBlockage)
    // If the browser cannot use a microphone, the page has said so already.
    if (store.state.support.audio) await this.enableMicrophone()
  }

  async enableMicrophone() {
    const room = this.#room
    if (room?.state !== 'connected') return
    const { microphone } = store.state.devices
    store.dispatch('microphone.state', { value: 'waiting' })
    const timer = setTimeout(() => {
      if (room === this.#room && !hasEnded(room)) store.dispatch('problem.add', { key: 'microphone', code: 'waiting' })
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
      if (room !== this.#room || hasEnded(room)) return
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
    this.#stopAwaiting()
    this.#stalls.stop()
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

  /** @param {Room} room */
  #listen(room) {
    /**
     * @template {keyof RoomEvents} Name
     * @param {Name} name
     * @param {RoomEvents[Name]} listener
     */
    const on = (name, listener) => room.on(name, /** @type {any} */ ((...values) => room === this.#room && Reflect.apply(listener, null, values)))
    const note = (name, data) => store.dispatch('event', { source: 'page', name, data })

    on('event', ({ type, data }) => store.dispatch('event', { source: 'gateway', name: type, data: withoutSecrets(data) }))
    on('state', (value) => {
      note('state', { state: value })
      if (value !== 'disconnected') store.dispatch('room.state', { value })
      if (value === 'connected') {
        this.#noteMuted()
        store.dispatch('room.logged', { isLogged: room.logged })
        this.#stalls.start()
      } else this.#stalls.stop()
      if (value === 'reconnecting') {
        this.#stopAwaiting()
        store.dispatch('problem.remove', { key: 'agent' })
        store.dispatch('problem.add', { key: 'connection', code: 'reconnecting' })
      }
      if (value === 'connected' && store.state.problems.some(({ key }) => key === 'connection')) {
        store.dispatch('problem.remove', { key: 'connection' })
        this.#watchAgent()
      }
    })
    on('participantJoined', () => this.#watchAgent())
    on('participantUpdated', () => this.#watchAgent())
    on('participantLeft', ({ identity }, reason) => {
      if (store.state.agent?.identity !== identity) return
      this.#stopAwaiting()
      store.dispatch('agent.gone', { identity })
      if (reason !== 'CLIENT_INITIATED' && reason !== 'ROOM_DELETED') this.#tellOfAgent('lost')
      if (room.waitingAgents.size > 0) this.#watchAgent()
    })
    // Without a connection, it is only the end of what it had said.
    on('agentState', ({ identity, connected }, value) => connected && store.dispatch('agent.state', { identity, value }))
    on('agentWaiting', ({ reason }) => this.#watchAgent({ isOver: reason === 'ended' }))
    on('transcript', (segment) => store.dispatch('segment', { segment, name: this.#nameOf(segment.participant) }))
    on('playout', (position) => store.dispatch('playout', { position }))
    on('text', ({ participant, text }) => store.dispatch('line', { line: { kind: 'message', name: this.#nameOf(participant), text } }))
    on('tool', ({ type, name, message }) => {
      const { toolStarted, toolFinished, toolFailed } = texts.call
      const text = { started: toolStarted, finished: toolFinished, failed: toolFailed }[type](name, message)
      store.dispatch('line', { line: { kind: 'note', name: '', text } })
    })
    on('turnMetrics', (metrics) => store.dispatch('turn', { metrics }))
    on('held', ({ identity }, isHeld) => identity === room.localParticipant.identity && store.dispatch('held', { isHeld }))
    // Also by others.
    on('muted', ({ identity }, _, track) => track && identity === room.localParticipant.identity && this.#noteMuted())
    on('recording', ({ active }) => store.dispatch('room.recorded', { isActive: active }))
    on('audioBlocked', (reason) => {
      note('audioBlocked', { reason })
      this.#tellOfSound(reason)
    })
    on('audioStarted', () => store.dispatch('problem.remove', { key: 'audio' }))
    on('microphoneEnded', (reason) => {
      note('microphoneEnded', { reason })
      store.dispatch('microphone.state', { value: 'off' })
      store.dispatch('problem.add', { key: 'microphone', code: 'ended', message: reason })
    })
    on('draining', (deadline) => store.dispatch('problem.add', { key: 'connection', code: 'draining', deadline: Number(deadline) }))
    on('disconnected', ({ reason, code, message }) => {
      this.#stopAwaiting()
      note('disconnected', { reason, code, message })
      store.dispatch('problem.add', { key: 'ended', code: reason, message, number: code })
      store.dispatch('call.ended')
    })
  }

  /** Reports a problem with playing. A browser that cannot play at all is a problem of the page, not of the call. */
  #tellOfSound(code) {
    if (code !== 'unsupported') store.dispatch('problem.add', { key: 'audio', code })
  }

  #noteMuted() {
    store.dispatch('microphone.muted', { isMuted: this.#room.localParticipant.muted })
  }

  /** Notes the assistant of the room and whether it is connected, or that there is none after a while. */
  #watchAgent({ isOver = false } = {}) {
    const agents = assistantsIn(this.#room)
    const known = store.state.agent
    const agent = agents.find(({ identity }) => identity === known?.identity) ?? agents[0]
    if (!agent) return this.#awaitAgent(isOver)
    const { identity, name, agentState } = agent
    const state = known?.identity === identity ? known.state : null
    if (agent.connected) {
      this.#stopAwaiting()
      if (state === null || state === 'gone' || state === 'reconnecting') store.dispatch('agent.present', { identity, name, value: agentState })
      store.dispatch('problem.remove', { key: 'agent' })
    } else if (state === 'gone') {
      this.#tellOfAgent('lost')
    } else {
      if (state === null) this.#stopAwaiting()
      if (state !== 'reconnecting') store.dispatch('agent.present', { identity, name, value: 'reconnecting' })
      this.#await(GONE_MS, () => {
        store.dispatch('agent.gone', { identity })
        this.#tellOfAgent('lost')
      })
    }
  }

  /** Tells why no assistant comes, or after a while that none does. `isOver`: none will. */
  #awaitAgent(isOver) {
    const wait = [...this.#room.waitingAgents.values()].at(-1)
    if (!wait && !isOver) return this.#await(MISSING_MS, () => this.#tellOfAgent('missing'))
    this.#stopAwaiting()
    this.#tellOfAgent(!wait ? 'missing' : wait === 'no_worker' ? 'unstaffed' : 'busy')
  }

  /** Calls back after this time, unless that is awaited already or `#stopAwaiting` is called. */
  #await(duration, over) {
    this.#agentTimer ||= setTimeout(() => {
      this.#agentTimer = 0
      over()
    }, duration)
  }

  #stopAwaiting() {
    clearTimeout(this.#agentTimer)
    this.#agentTimer = 0
  }

  #tellOfAgent(code) {
    const told = store.state.problems.find(({ key }) => key === 'agent')?.code
    // It is no news that nobody has joined since.
    if (told === code || (told === 'lost' && code === 'missing')) return
    store.dispatch('problem.add', { key: 'agent', code, hasDevelopment: this.#hasDevelopment })
  }

  #nameOf(identity) {
    const { localParticipant, remoteParticipants } = this.#room
    if (identity === localParticipant.identity) return texts.you
    const participant = remoteParticipants.get(identity)
    return participant?.name || (participant?.kind === 'agent' ? texts.assistant : identity)
  }
}

/** Tokens do not belong on a screen that others may see. */
function withoutSecrets(data) {
  const hidden = ['token', 'resume_token'].filter((name) => typeof data?.[name] === 'string')
  return hidden.length ? { ...data, ...Object.fromEntries(hidden.map((name) => [name, '(hidden)'])) } : data
}

const hasEnded = ({ state }) => state === 'disconnected'

export const call = new Call()

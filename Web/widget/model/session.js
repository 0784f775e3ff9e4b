// Runs the state machine: carries out its effects, turns events of the room into its events, and offers what users can do.

import { Room, checkSupport } from '../../patchbay.js'
import { describeAssistant, developmentSession, listVoices } from '../../shared/gateway.js'
import { GatewayError } from '../../shared/http.js'
import { readDefinition, readVoices } from './definition.js'
import { handle, initialState, isInCall } from './machine.js'
import { RoomListener } from './room-listener.js'
import { storage } from './storage.js'

export class Session {
  state = initialState
  voices = readVoices([])
  #page
  #changed
  /** @type {Room | null} */
  #room = null
  #listener = null
  #timer = 0
  #queue = []
  #isHandling = false
  #chosenVoice = storage.voice

  /**
   * `page()` returns `{url, base, token, tokenProvider, context}`: the WebSocket's address or null, the origin of the HTTP API, how to get tokens,
   * and what the page tells the assistant about itself.
   * `changed(state, previous)` is called after each change.
   */
  constructor(page, changed) {
    this.#page = page
    this.#changed = changed
  }

  /** The room of the call, or null; views read levels from it and never change it. */
  get room() {
    return this.#room
  }

  /** Passes an event to the machine. Events that effects or listeners cause are handled after it. */
  send(type, values = {}) {
    this.#queue.push({ type, ...values })
    if (this.#isHandling) return
    this.#isHandling = true
    try {
      while (this.#queue.length) this.#handle(this.#queue.shift())
    } finally {
      this.#isHandling = false
    }
  }

  #handle(event) {
    const previous = this.state
    const { state, effects } = handle(previous, event, Date.now())
    this.state = state
    for (const effect of effects) this.#effects[effect.type](effect)
    clearTimeout(this.#timer)
    if (state.deadline !== null) this.#timer = setTimeout(() => this.send('tick'), Math.max(0, state.deadline - Date.now()) + 5)
    if (state !== previous) this.#changed(state, previous)
  }

  // MARK: What users can do

  configure(values) {
    this.send('configured', values)
  }

  /** Must be called in an event handler of a user's gesture, so that the browser plays sound. */
  start(text) {
    this.send('start', { text })
  }

  retry = () => this.send('retry')
  stop = () => this.send('stop')
  close = () => this.send('close')
  showTranscript = () => this.send('showTranscript')
  showVoice = () => this.send('showVoice')
  typeInstead = () => this.send('typeInstead')
  retryMicrophone = () => this.#enableMicrophone()
  enableMicrophone = () => this.#enableMicrophone()
  startAudio = () => this.#room?.startAudio().catch(() => {})

  restart = () => {
    this.stop()
    this.start()
  }

  setMuted(isMuted) {
    return this.#attempt(async (room) => {
      await room.localParticipant.setMuted(isMuted)
      this.send('muted', { isMuted: room.localParticipant.muted })
    })
  }

  /** Returns whether the text was sent. Without a call, it starts one, which begins with it. */
  async sendText(text) {
    if (!isInCall(this.state)) {
      this.start(text)
      return isInCall(this.state)
    }
    return this.#attempt(async (room) => {
      await room.sendText(text)
      this.send('typed', { text })
    })
  }

  interrupt = () => this.#attempt((room) => room.clearPlayout({ reason: 'barge-in' }))

  skipOnboarding() {
    this.send('onboardingSkipped')
    return this.interrupt()
  }

  /** `action` is `{id, title}`, `fields` are the edited ones; a card of the widget's own is answered by a text. */
  async answerCard(card, action, fields) {
    this.send('cardSending', { id: card.id })
    const isDone = await this.#attempt((room) => (card.isOwn ? room.sendText(`${action.title}: ${card.title}`) : room.sendCardAction(card.id, action.id, fields)))
    if (isDone) this.send('cardAnswered', { id: card.id, note: `${action.title}: ${card.title}` })
    else this.send('cardRefused', { id: card.id })
  }

  dismissCard(card) {
    this.send('cardDismissed', { id: card.id })
  }

  /** The user's choice, otherwise the assistant's voice. */
  get voice() {
    const known = this.voices.some(({ id }) => id === this.#chosenVoice)
    return known ? this.#chosenVoice : this.state.definition?.voice || this.voices[0].id
  }

  /** Applies to calls that begin from now on. */
  set voice(id) {
    this.#chosenVoice = storage.voice = id
  }

  // MARK: Effects

  #effects = {
    load: ({ attempt }) => this.#load(attempt),
    connect: ({ attempt }) => this.#connect(attempt),
    microphone: () => this.#prepareMicrophone(),
    leave: () => this.#leave(),
    onboarding: () => this.#attempt((room) => room.startOnboarding()),
    remember: () => storage.rememberOnboarding(this.state.loaded),
    send: ({ text }) => this.sendText(text),
  }

  async #load(attempt) {
    const { assistant } = this.state
    const { base } = this.#page()
    try {
      const [definition, voices] = await Promise.all([describeAssistant(assistant, base), listVoices(base).catch(() => [])])
      this.voices = readVoices(voices)
      this.send('loaded', { attempt, assistant, definition: readDefinition(definition) })
    } catch ({ code, message }) {
      this.send('loadFailed', { attempt, code, message })
    }
  }

  async #connect(attempt) {
    this.#leave()
    const room = (this.#room = new Room())
    this.#listener = new RoomListener(room, attempt, () => room === this.#room, this)
    // In the handler of the user's gesture. Rejects where the browser wants another one, which `audioBlocked` reports.
    room.startAudio().catch(() => {})
    try {
      const support = await checkSupport()
      if (!support.audio) return this.send('connectFailed', { attempt, kind: 'other', code: 'unsupported', message: support.reason })
      const { url, token } = await this.#admission()
      if (room !== this.#room) return
      await room.connect(url, token)
      if (room !== this.#room) return room.disconnect()
      const { identity } = room.localParticipant
      this.send('connected', { attempt, identity, hasSeenOnboarding: storage.hasSeenOnboarding(this.state.loaded) })
      if (room.audioBlocked) this.send('sound', { attempt, blockage: room.audioBlockage })
      if (room.recording) this.send('recorded', { attempt, isActive: true })
      this.#listener.noteAgent()
    } catch ({ kind, code, message, closeCode }) {
      this.send('connectFailed', { attempt, kind, code, message, closeCode })
    }
  }

  /** Where to connect with which token: from the page, otherwise from a gateway for development. */
  async #admission() {
    const { url, base, token, tokenProvider, context } = this.#page()
    if (typeof tokenProvider === 'function') {
      let given
      try {
        const request = { assistant: this.state.assistant, voice: this.voice }
        given = await tokenProvider(context ? { ...request, clientContext: context } : request)
      } catch (error) {
        throw { kind: 'other', code: 'provider_failed', message: String(error?.message ?? '') }
      }
      const admission = typeof given === 'string' ? { token: given } : given
      if (typeof admission?.token !== 'string' || !admission.token) throw { kind: 'other', code: 'no_token', message: '' }
      return { url: admission.url ?? url, token: admission.token }
    }
    if (token) return { url, token }
    const session = await developmentSession(this.state.assistant, base)
    if (!session) throw Object.assign(new GatewayError('no_token', ''), { kind: 'other' })
    return session
  }

  /** In the talk view, a user whom the browser is going to ask learns why first. */
  async #prepareMicrophone() {
    const room = this.#room
    if (this.state.isTalk && (await microphonePermission()) === 'prompt') {
      if (room === this.#room) this.send('microphone', { attempt: this.state.attempt, value: 'unasked' })
    } else if (room === this.#room) await this.#enableMicrophone()
  }

  async #enableMicrophone() {
    const room = this.#room
    if (room?.state !== 'connected') return
    const { attempt } = this.state
    this.send('microphone', { attempt, value: 'asking' })
    try {
      await room.localParticipant.setMicrophoneEnabled(true)
      this.send('microphone', { attempt, value: 'on' })
      if (this.state.call.microphone.isMuted) await room.localParticipant.setMuted(true)
    } catch ({ code = 'failed', message = '' }) {
      if (!hasEnded(room)) this.send('microphone', { attempt, value: 'failed', code, message })
    }
  }

  #leave() {
    const room = this.#room
    this.#room = null
    room?.disconnect()
  }

  /** @param {(room: Room) => Promise<unknown>} action */
  async #attempt(action) {
    const room = this.#room
    if (!room) return false
    try {
      await action(room)
      this.send('refused', { message: null })
      return true
    } catch ({ message }) {
      this.send('refused', { message: message ?? '' })
      return false
    }
  }
}

/** granted, denied or prompt; empty where the browser does not tell. */
async function microphonePermission() {
  try {
    return (await navigator.permissions.query({ name: /** @type {PermissionName} */ ('microphone') })).state
  } catch {
    return ''
  }
}

const hasEnded = ({ state }) => state === 'disconnected'

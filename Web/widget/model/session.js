// Runs the state machine: carries out its effects, turns events of the room into its events, and offers what users can do.

import { Room, checkSupport } from '../../patchbay.js'
import { describeAssistant, listVoices } from '../../shared/gateway.js'
import { Admission } from './admission.js'
import { canQueue } from './conversation.js'
import { readDefinition, readVoices } from './definition.js'
import { handle, initialState, isInCall } from './machine.js'
import { microphonePermission } from './microphone-permission.js'
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
  #admission
  // The session of the user's account for the current conversation.
  #openSession = null
  // The browser's capabilities, checked when a call starts.
  /** @type {import('../../patchbay.js').Support} */
  #support = { audio: true, listening: true }

  /**
   * `page()` returns `{url, base, token, tokenProvider, accountProvider, context}`: the WebSocket's address or null, the origin of the HTTP API,
   * the sources of tokens, and the page's context for the assistant.
   * `changed(state, previous)` is called after each change.
   */
  constructor(page, changed) {
    this.#page = page
    this.#admission = new Admission(page)
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
  allowLogging = () => this.send('consentAnswered', { isAllowed: true })
  denyLogging = () => this.send('consentAnswered', { isAllowed: false })
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

  /** Returns whether the text was sent, or is sent once the assistant is there. Without a call, it starts one, which begins with it. */
  async sendText(text) {
    if (!isInCall(this.state)) {
      this.start(text)
      return isInCall(this.state)
    }
    if (!this.state.call.agent) {
      const isQueued = canQueue(this.state.call)
      this.send('queued', { text })
      return isQueued
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
    return this.chosenVoice || this.state.definition?.voice || this.voices[0].id
  }

  /** The user's choice; empty for the assistant's own voice. */
  get chosenVoice() {
    return this.voices.some(({ id }) => id === this.#chosenVoice) ? this.#chosenVoice : ''
  }

  /** Applies to calls that begin from now on. */
  set chosenVoice(id) {
    this.#chosenVoice = storage.voice = id
  }

  // MARK: Effects

  #effects = {
    load: ({ attempt }) => this.#load(attempt),
    connect: ({ attempt }) => this.#connect(attempt),
    consent: ({ attempt, isAllowed }) => this.#answerConsent(attempt, isAllowed),
    microphone: () => this.#prepareMicrophone(),
    leave: () => this.#leave(),
    onboarding: () => this.#attempt((room) => room.startOnboarding()),
    remember: () => storage.rememberOnboarding(this.state.loaded, this.#admission.user),
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
    await this.#try(attempt, room, async () => {
      this.#support = await checkSupport()
      if (await this.#admission.needsConsent()) return this.send('consentNeeded', { attempt })
      await this.#join(attempt, room)
    })
  }

  #answerConsent(attempt, isAllowed) {
    const room = this.#room
    // The answer is a gesture, too, in case the first one was not enough.
    room.startAudio().catch(() => {})
    return this.#try(attempt, room, async () => {
      await this.#admission.answerConsent(isAllowed)
      await this.#join(attempt, room)
    })
  }

  async #join(attempt, room) {
    if (room !== this.#room) return
    const { url, token, session } = await this.#admission.admit(this.state.assistant, this.voice)
    // The user gave up in the meantime.
    if (room !== this.#room) return this.#admission.end(session)
    this.#openSession = session
    await room.connect(url, token)
    if (room !== this.#room) return room.disconnect()
    const { identity } = room.localParticipant
    this.send('connected', { attempt, identity, hasSeenOnboarding: storage.hasSeenOnboarding(this.state.loaded, this.#admission.user) })
    if (room.logged) this.send('logged', { attempt, isLogged: true })
    if (room.audioBlocked) this.send('sound', { attempt, blockage: room.audioBlockage })
    if (room.recording) this.send('recorded', { attempt, isActive: true })
    this.#listener.noteAgent()
  }

  /** Performs a step of the start. An error ends the start. */
  async #try(attempt, room, part) {
    try {
      await part()
    } catch ({ kind, code, message, closeCode }) {
      this.send('connectFailed', { attempt, kind, code, message, closeCode })
    }
  }

  /** In the talk view, a user whom the browser is going to ask learns why first. */
  async #prepareMicrophone() {
    const room = this.#room
    if (this.#support.audio && this.state.isTalk && (await microphonePermission()) === 'prompt') {
      if (room === this.#room) this.send('microphone', { attempt: this.state.attempt, value: 'unasked' })
    } else if (room === this.#room) await this.#enableMicrophone()
  }

  async #enableMicrophone() {
    const room = this.#room
    if (room?.state !== 'connected') return
    const { attempt } = this.state
    const { audio, code: fault } = this.#support
    if (!audio) return this.send('microphone', { attempt, value: 'failed', code: fault === 'no_worklet' ? 'no_decoder' : fault })
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
    this.#admission.end(this.#openSession)
    this.#openSession = null
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

const hasEnded = ({ state }) => state === 'disconnected'

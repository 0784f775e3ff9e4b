// <patchbay-assistant>: a voice assistant for any page. `README.md` shows how to use it, `patchbay-assistant.d.ts` documents it.

import { h } from './shared/elements.js'
import { httpOrigin } from './shared/http.js'
import { appearance } from './widget/model/definition.js'
import { TranscriptItems, settingsOf } from './widget/model/exposed.js'
import { LanguageObserver, languageAt } from './widget/model/language.js'
import { agentStatus, isInCall, screenOf } from './widget/model/machine.js'
import { Session } from './widget/model/session.js'
import { languageOf } from './widget/model/texts.js'
import { vibrationOf } from './widget/model/vibration.js'
import { base } from './widget/styles/base.js'
import { conversation } from './widget/styles/conversation.js'
import { idle } from './widget/styles/idle.js'
import { launcher } from './widget/styles/launcher.js'
import { panel } from './widget/styles/panel.js'
import { talk } from './widget/styles/talk.js'
import { Idle } from './widget/views/idle.js'
import { Launcher } from './widget/views/launcher.js'
import { Announcer } from './widget/views/messages.js'
import { Panel } from './widget/views/panel.js'
import { Talk } from './widget/views/talk.js'
import { VoiceLevel } from './widget/views/voice-level.js'

// The gateway that served this module.
const OWN_ORIGIN = new URL(import.meta.url).origin

const silence = Object.freeze({ user: 0, agent: 0 })

// Servers have no elements, but load the module with the page that they render.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {})

/**
 * @typedef {import('./patchbay-assistant.js').PatchbayAssistant} DeclaredAssistant
 * @implements {DeclaredAssistant}
 */
export class PatchbayAssistant extends Base {
  static observedAttributes = ['assistant-id', 'should-initialize', 'icon-only', 'idle-screen', 'presentation', 'theme', 'token', 'url', 'visualizer']

  #session = new Session(() => this.#page(), (state, previous) => this.#update(state, previous))
  #level = new VoiceLevel(this.#session)
  #root = h('div', { class: 'root', part: 'root' })
  #announcer = new Announcer()
  #language = new LanguageObserver(() => languageAt(this) !== this.#session.state.language && this.#configure())
  #launcher
  /** @type {Idle | null} */
  #idle = null
  #open = null
  #isConfigured = false
  #tokenProvider = null
  #accountProvider = null
  #settings = null
  #items = new TranscriptItems()
  #levels = silence
  #stopLevels = null

  constructor() {
    super()
    const shadow = this.attachShadow({ mode: 'open' })
    const run = (command) => this.#session[command]()
    this.#launcher = new Launcher(this.#session, run)
    this.#root.append(this.#launcher.element, this.#announcer.element)
    shadow.adoptedStyleSheets = [base, launcher, panel, conversation, talk, idle]
    shadow.append(this.#root)
  }

  connectedCallback() {
    // Properties that were set before the element was defined.
    for (const name of ['tokenProvider', 'accountProvider', 'token', 'context']) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete this[name]
      this[name] = value
    }
    this.#isConfigured = true
    this.#language.observe(this)
    this.#stopLevels ??= this.#level.follow((levels) => this.#noteLevels(levels))
    this.#configure()
    if (this.#open instanceof Talk) this.#open.reopen(this.#session.state, () => this.#resting)
  }

  /** Moving the element within the page keeps the call; removing it ends the call. */
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return
      this.#isConfigured = false
      this.#language.disconnect()
      this.#session.stop()
      this.#session.configure({ assistant: '', isWanted: false, isTalk: false })
      this.#stopLevels?.()
      this.#stopLevels = null
    })
  }

  attributeChangedCallback() {
    if (this.#isConfigured) this.#configure()
  }

  // MARK: What pages use

  /** `idle`, `loading`, `collapsed`, `connecting`, `expanded`, `transcript` or `error`. */
  get state() {
    return this.#session.state.view
  }

  /** `idle`, `initializing`, `thinking`, `waiting` or `error`. */
  get agentStatus() {
    return agentStatus(this.#session.state)
  }

  get muted() {
    return this.#session.state.call.microphone.isMuted
  }

  /** Of the conversation, or of the last one. */
  get transcript() {
    return this.#items.items
  }

  /** `{user, agent}`, 0 to 1. */
  get levels() {
    return this.#levels
  }

  /** The assistant's, with the element's own theme and colours; null before it is loaded. */
  get settings() {
    return this.#settings
  }

  /** `async ({assistant, voice, clientContext}) => token`, or `{url, token}`. Called for each conversation. */
  get tokenProvider() {
    return this.#tokenProvider
  }

  set tokenProvider(provider) {
    this.#tokenProvider = provider
  }

  /** `async () => accessToken` of a user of the gateway. Called for each request on behalf of the user. */
  get accountProvider() {
    return this.#accountProvider
  }

  set accountProvider(provider) {
    this.#accountProvider = provider
  }

  get token() {
    return this.getAttribute('token') ?? ''
  }

  set token(value) {
    if (value) this.setAttribute('token', value)
    else this.removeAttribute('token')
  }

  get context() {
    return this.getAttribute('context') ?? ''
  }

  set context(value) {
    const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
    if (text) this.setAttribute('context', text)
    else this.removeAttribute('context')
  }

  /** Starts a conversation. Call it in the handler of a click, so that the browser plays sound. */
  start() {
    this.#session.start()
  }

  /** Ends the conversation. */
  end() {
    this.#session.stop()
  }

  /** The name of `end` in 0.1. */
  stop() {
    this.end()
  }

  /** Returns whether the user is muted now. Without a microphone, nothing changes. */
  async toggleMute() {
    if (this.#session.state.call.microphone.state === 'on') await this.#session.setMuted(!this.muted)
    return this.muted
  }

  /** Returns whether the text was sent. Without a conversation, it starts one, which begins with it. */
  async sendText(text) {
    if (typeof text !== 'string' || text.trim() === '' || this.#session.state.call.phase === 'connecting') return false
    return this.#session.sendText(text.trim())
  }

  // MARK: Inside

  #page() {
    const url = this.getAttribute('url')
    const accountProvider = typeof this.#accountProvider === 'function' ? this.#accountProvider : null
    return {
      url: url || OWN_ORIGIN, base: url ? httpOrigin(url) : OWN_ORIGIN, token: this.token, tokenProvider: this.#tokenProvider, accountProvider, context: this.context,
    }
  }

  #configure() {
    const isTalk = this.getAttribute('presentation') === 'talk'
    const isWanted = this.getAttribute('should-initialize')?.trim().toLowerCase() !== 'false'
    const before = this.#session.state
    const isIconOnly = this.hasAttribute('icon-only')
    this.#session.configure({ assistant: this.getAttribute('assistant-id')?.trim() ?? '', isWanted, isTalk, isIconOnly, url: this.getAttribute('url') ?? '', language: languageAt(this) })
    if (this.#session.state !== before) return
    this.#update(before, before)
  }

  /** The element shown without a conversation: the idle screen of the talk view, if enabled, otherwise the button. */
  get #resting() {
    return this.#idle && !this.#idle.element.hidden ? this.#idle : this.#launcher
  }

  #update(state, previous) {
    const hadFocus = this.shadowRoot.activeElement !== null
    const shown = appearance(state.definition, { theme: this.getAttribute('theme'), visualizer: this.getAttribute('visualizer') }, state.isTalk)
    this.#root.hidden = state.view === 'idle'
    this.#root.lang = languageOf(state)
    this.#root.dataset.view = state.view
    this.#root.dataset.theme = shown.theme
    this.#root.dataset.color = shown.color
    this.#root.toggleAttribute('data-icon-only', state.isIconOnly)
    this.#prepare(state)
    const isDialog = this.#open instanceof Talk && Talk.isOpenWith(state)
    const hasIdle = state.isTalk && this.hasAttribute('idle-screen') && state.definition !== null && (isDialog || state.view === 'collapsed')
    if (hasIdle && !this.#idle) {
      this.#idle = new Idle(this.#session)
      this.#root.prepend(this.#idle.element)
    }
    this.#idle?.update(state, hasIdle)
    this.#launcher.update(state, { isDialog })
    if (hasIdle) this.#launcher.element.hidden = true
    this.#level.update()
    // A dialog gives the focus back to where it was, which may have been in the panel that it replaces.
    if (hadFocus && isDialog && !this.shadowRoot.activeElement) this.#resting.focus()
    this.#open?.update(state)
    this.#announcer.update(state, previous, this.#open instanceof Talk ? this.#open.regions : null)
    const pattern = state.isTalk && vibrationOf(state, previous)
    // Browsers complain about a vibration before anybody has touched the page.
    if (pattern && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(pattern)
    if (hadFocus) this.#moveFocus(state, previous, isDialog)
    this.#tell(state, previous, settingsOf(state.definition, shown))
  }

  /** The panel or the talk view, as soon as one of them is needed. */
  #prepare(state) {
    const wanted = state.isTalk ? Talk : Panel
    if (this.#open instanceof wanted && this.#open.preset === state.definition?.preset) return
    this.#open?.close()
    this.#open?.element.remove()
    this.#open = null
    if (!state.definition) return
    const run = (command) => this.#session[command]()
    this.#open = state.isTalk
      ? new Talk(this.#session, this.#level, run, () => this.#resting.center)
      : new Panel(this.#session, this.#level, run)
    this.#open.preset = state.definition.preset
    this.#root.append(this.#open.element)
  }

  /** Only if the focus was in the widget: what happens by itself does not take it from the page. */
  #moveFocus(state, previous, isDialog) {
    const isSame = state.view === previous.view && screenOf(state) === screenOf(previous)
    const { activeElement } = this.shadowRoot
    const isLost = activeElement === null || activeElement.closest('[hidden]') !== null || !activeElement.checkVisibility()
    if (isSame && !isLost) return
    const isInPanel = this.#open && !this.#open.element.hidden && ['connecting', 'expanded', 'transcript'].includes(state.view)
    // Going on with the same button keeps it.
    if (!isLost && (state.view !== 'transcript' || previous.view === 'connecting') && previous.view !== 'collapsed' && state.view !== 'error' && !screenOf(state)) return
    if (isInPanel || isDialog) this.#open.focus(state)
    else this.#resting.focus()
  }

  /** Events for the page, one for each property that changed. */
  #tell(state, previous, settings) {
    if (JSON.stringify(settings) !== JSON.stringify(this.#settings)) {
      this.#settings = settings
      this.#dispatch('settings', { settings })
    }
    if (state.view !== previous.view) this.#dispatch('state', { state: state.view, previous: previous.view, problem: state.problem && { kind: state.problem.kind, code: state.problem.code, message: state.problem.message } })
    const [now, before] = [agentStatus(state), agentStatus(previous)]
    if (now !== before) this.#dispatch('status', { status: now, previous: before })
    const [isMuted, wasMuted] = [state.call.microphone.isMuted, previous.call.microphone.isMuted]
    if (isMuted !== wasMuted) this.#dispatch('muted', { muted: isMuted })
    this.#tellTranscript(state, previous)
  }

  /** The transcript of a call stays until the next one begins. */
  #tellTranscript(state, previous) {
    const isNew = isInCall(state) && state.attempt !== previous.attempt && this.#items.clear()
    if (!isNew && state.call.transcript === previous.call.transcript) return
    const changed = this.#items.update(state.call.transcript.lines)
    if (isNew || changed.length) this.#dispatch('transcript', { transcript: this.transcript, changed })
  }

  #noteLevels({ agent, user }) {
    const levels = { user: round(user), agent: round(agent) }
    if (levels.user === this.#levels.user && levels.agent === this.#levels.agent) return
    this.#levels = Object.freeze(levels)
    this.#dispatch('levels', levels)
  }

  #dispatch(name, detail) {
    this.dispatchEvent(new CustomEvent(`patchbay-${name}`, { detail, bubbles: true, composed: true }))
  }
}

const round = (level) => Math.round(level * 1000) / 1000

// A page may have the script of the gateway and a bundle that contains it.
if (globalThis.customElements && !customElements.get('patchbay-assistant')) customElements.define('patchbay-assistant', PatchbayAssistant)

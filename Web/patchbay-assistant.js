// <patchbay-assistant>: a voice assistant for any page. `README.md` shows how to use it, `patchbay-assistant.d.ts` documents it.

import { h } from './shared/elements.js'
import { LanguageObserver, languageAt } from './widget/model/language.js'
import { agentStatus, isDenied } from './widget/model/machine.js'
import { Session } from './widget/model/session.js'
import { languageOf } from './widget/model/texts.js'
import { base } from './widget/styles/base.js'
import { conversation } from './widget/styles/conversation.js'
import { launcher } from './widget/styles/launcher.js'
import { panel } from './widget/styles/panel.js'
import { talk } from './widget/styles/talk.js'
import { Launcher } from './widget/views/launcher.js'
import { Announcer } from './widget/views/messages.js'
import { Panel } from './widget/views/panel.js'
import { Talk } from './widget/views/talk.js'
import { VoiceLevel } from './widget/views/voice-level.js'

// The gateway that served this module.
const OWN_ORIGIN = new URL(import.meta.url).origin

export class PatchbayAssistant extends HTMLElement {
  static observedAttributes = ['assistant-id', 'should-initialize', 'icon-only', 'presentation', 'token', 'url']

  #session = new Session(() => this.#page(), (state, previous) => this.#update(state, previous))
  #level = new VoiceLevel(this.#session)
  #root = h('div', { class: 'root', part: 'root' })
  #announcer = new Announcer()
  #language = new LanguageObserver(() => languageAt(this) !== this.#session.state.language && this.#configure())
  #launcher
  #open = null
  #isConfigured = false
  #tokenProvider = null

  constructor() {
    super()
    const shadow = this.attachShadow({ mode: 'open' })
    const run = (command) => this.#session[command]()
    this.#launcher = new Launcher(this.#session, run)
    this.#root.append(this.#launcher.element, this.#announcer.element)
    shadow.adoptedStyleSheets = [base, launcher, panel, conversation, talk]
    shadow.append(this.#root)
  }

  connectedCallback() {
    // Properties that were set before the element was defined.
    for (const name of ['tokenProvider', 'token']) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete this[name]
      this[name] = value
    }
    this.#isConfigured = true
    this.#language.observe(this)
    this.#configure()
    if (this.#open instanceof Talk) this.#open.reopen(this.#session.state, () => this.#launcher)
  }

  /** Moving the element within the page keeps the call; removing it ends the call. */
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return
      this.#isConfigured = false
      this.#language.disconnect()
      this.#session.stop()
      this.#session.configure({ assistant: '', isWanted: false, isTalk: false })
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

  /** `idle`, `thinking` or `waiting`. */
  get agentStatus() {
    return agentStatus(this.#session.state)
  }

  /** `async ({assistant, voice}) => token`, or `{url, token}`. Called for each conversation. */
  get tokenProvider() {
    return this.#tokenProvider
  }

  set tokenProvider(provider) {
    this.#tokenProvider = provider
  }

  get token() {
    return this.getAttribute('token') ?? ''
  }

  set token(value) {
    if (value) this.setAttribute('token', value)
    else this.removeAttribute('token')
  }

  /** Starts a conversation. Call it in the handler of a click, so that the browser plays sound. */
  start() {
    this.#session.start()
  }

  /** Ends the conversation. */
  stop() {
    this.#session.stop()
  }

  // MARK: Inside

  #page() {
    const url = this.getAttribute('url')
    return { url: url || OWN_ORIGIN, base: url ? httpOrigin(url) : OWN_ORIGIN, token: this.token, tokenProvider: this.#tokenProvider }
  }

  #configure() {
    const isTalk = this.getAttribute('presentation') === 'talk'
    const isWanted = (this.getAttribute('should-initialize') ?? 'true') !== 'false'
    const before = this.#session.state
    this.#session.configure({ assistant: this.getAttribute('assistant-id')?.trim() ?? '', isWanted, isTalk, language: languageAt(this) })
    if (this.#session.state !== before) return
    this.#update(before, before)
  }

  #update(state, previous) {
    const hadFocus = this.shadowRoot.activeElement !== null
    const { definition } = state
    this.#root.lang = languageOf(state)
    this.#root.dataset.view = state.view
    this.#root.dataset.theme = definition?.theme ?? 'auto'
    this.#root.dataset.color = definition?.color ?? 'verdant'
    this.#prepare(state)
    const isDialog = this.#open instanceof Talk && Talk.isOpenWith(state)
    this.#launcher.update(state, { isIconOnly: this.hasAttribute('icon-only'), isDialog })
    this.#level.update()
    // A dialog gives the focus back to where it was, which may have been in the panel that it replaces.
    if (hadFocus && isDialog && !this.shadowRoot.activeElement) this.#launcher.focus()
    this.#open?.update(state)
    this.#announcer.update(state, previous)
    if (hadFocus) this.#moveFocus(state, previous, isDialog)
    this.#tell(state, previous)
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
      ? new Talk(this.#session, this.#level, run, () => this.#launcher.center)
      : new Panel(this.#session, this.#level, run)
    this.#open.preset = state.definition.preset
    this.#root.append(this.#open.element)
  }

  /** Only if the focus was in the widget: what happens by itself does not take it from the page. */
  #moveFocus(state, previous, isDialog) {
    const isSame = state.view === previous.view && isDenied(state) === isDenied(previous)
    const { activeElement } = this.shadowRoot
    const isLost = activeElement === null || activeElement.closest('[hidden]') !== null || !activeElement.checkVisibility()
    if (isSame && !isLost) return
    const isInPanel = this.#open && !this.#open.element.hidden && ['connecting', 'expanded', 'transcript'].includes(state.view)
    // Going on with the same button keeps it.
    if (!isLost && state.view !== 'transcript' && previous.view !== 'collapsed' && state.view !== 'error' && !isDenied(state)) return
    if (isInPanel || isDialog) this.#open.focus(state)
    else this.#launcher.focus()
  }

  /** Events for the page: `patchbay-state` and `patchbay-status`. */
  #tell(state, previous) {
    const tell = (name, detail) => this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
    if (state.view !== previous.view) tell('patchbay-state', { state: state.view, previous: previous.view, problem: state.problem && { kind: state.problem.kind, code: state.problem.code, message: state.problem.message } })
    const [now, before] = [agentStatus(state), agentStatus(previous)]
    if (now !== before) tell('patchbay-status', { status: now, previous: before })
  }
}

/** `https://host` of a gateway's address. What is no address cannot be reached, which the error says. */
function httpOrigin(url) {
  try {
    return new URL(url, location.href).href.replace(/^ws/, 'http').replace(/(\/v1\/rtc)?\/*$/, '')
  } catch {
    return url
  }
}

customElements.define('patchbay-assistant', PatchbayAssistant)

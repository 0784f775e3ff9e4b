// <patchbay-audio-button>: generates a text's audio and offers it for playback. `README.md` shows how to use it, `patchbay-audio-button.d.ts`
// documents it.

import { Session } from './audio-button/session.js'
import { audioButton } from './audio-button/styles.js'
import { tables } from './audio-button/texts.js'
import { View } from './audio-button/view.js'
import { httpOrigin } from './shared/http.js'
import { primary, supported } from './shared/languages.js'
import { LanguageObserver, languageAt } from './widget/model/language.js'
import { base } from './widget/styles/base.js'

// The origin of the gateway that served this module.
const OWN_ORIGIN = new URL(import.meta.url).origin

const wishes = ['text', 'voice', 'provider', 'assistant']

// A server that renders the page loads this module without DOM classes.
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {})

/**
 * @typedef {import('./patchbay-audio-button.js').PatchbayAudioButton} DeclaredButton
 * @implements {DeclaredButton}
 */
export class PatchbayAudioButton extends Base {
  static observedAttributes = [...wishes, 'url', 'theme']
  /** The token provider of all buttons without their own. */
  static tokenProvider = null

  #session = new Session(() => this.#page(), (state, previous) => this.#update(state, previous), (id) => this.#play(id))
  #view = new View(() => this.#session.dispatch({ type: 'pressed' }))
  #language = new LanguageObserver(() => this.#show(this.#session.state))
  /** Observes the element until it is first visible: a long list checks only the buttons that it shows. */
  #observer = null
  #isSeen = false
  #isConfiguring = false
  #tokenProvider = null
  #clip = null

  constructor() {
    super()
    const shadow = this.attachShadow({ mode: 'open', delegatesFocus: true })
    shadow.adoptedStyleSheets = [base, audioButton]
    shadow.append(this.#view.element)
  }

  connectedCallback() {
    // Properties set before the element was defined.
    for (const name of ['tokenProvider', ...wishes]) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete this[name]
      this[name] = value
    }
    this.#language.observe(this)
    this.#show(this.#session.state)
    this.#observer ??= new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      this.#observer.disconnect()
      this.#isSeen = true
      this.#configure()
    })
    if (!this.#isSeen) this.#observer.observe(this)
  }

  /** Moving the element within the page has no effect. The job of a removed element continues, and is found when the element is added again. */
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return
      this.#language.disconnect()
      this.#observer?.disconnect()
      this.#isSeen = false
      this.#session.stop()
    })
  }

  attributeChangedCallback(name, before, after) {
    if (before === after) return
    if (name === 'theme') this.#show(this.#session.state)
    else this.#configure()
  }

  // MARK: API for pages

  /** `checking`, `idle`, `generating`, `completed` or `failed`. */
  get state() {
    return this.#session.state.view
  }

  /** The progress in percent, 0 to 100. */
  get progress() {
    return this.#session.state.progress
  }

  /** The clip; null unless there is audio. */
  get clip() {
    return this.#clip
  }

  get text() {
    return this.getAttribute('text') ?? ''
  }

  set text(value) {
    this.#set('text', value)
  }

  get voice() {
    return this.getAttribute('voice') ?? ''
  }

  set voice(value) {
    this.#set('voice', value)
  }

  get provider() {
    return this.getAttribute('provider') ?? ''
  }

  set provider(value) {
    this.#set('provider', value)
  }

  get assistant() {
    return this.getAttribute('assistant') ?? ''
  }

  set assistant(value) {
    this.#set('assistant', value)
  }

  /** `async ({rejected}) => token`: returns a user's access token, other than `rejected`. */
  get tokenProvider() {
    return this.#tokenProvider
  }

  set tokenProvider(provider) {
    this.#tokenProvider = provider
    this.#configure()
  }

  /** Does the same as a click on `Generate` or `Retry`. */
  generate() {
    if (['idle', 'failed'].includes(this.state)) this.#session.dispatch({ type: 'pressed' })
  }

  /** Does the same as a click on `Cancel`. */
  cancel() {
    if (this.state === 'generating') this.#session.dispatch({ type: 'pressed' })
  }

  // MARK: Inside

  #set(name, value) {
    if (value === null || value === undefined || value === '') this.removeAttribute(name)
    else this.setAttribute(name, value)
  }

  #page() {
    const wish = Object.fromEntries(wishes.map((name) => [name, this.getAttribute(name) ?? '']).filter(([, value]) => value))
    const url = this.getAttribute('url')
    return { wish, base: url ? httpOrigin(url) : OWN_ORIGIN, tokenProvider: this.#tokenProvider ?? PatchbayAudioButton.tokenProvider }
  }

  /** Runs once for all attributes that a task changes. */
  #configure() {
    if (this.#isConfiguring || !this.#isSeen) return
    this.#isConfiguring = true
    queueMicrotask(() => {
      this.#isConfiguring = false
      if (this.#isSeen) this.#session.dispatch({ type: 'configured' })
    })
  }

  #show(state, previous = state) {
    const language = supported(languageAt(this)) ?? 'en'
    this.#view.element.dataset.theme = this.getAttribute('theme') ?? ''
    this.#view.update(state, previous, { texts: tables[primary(language)], language, text: this.text })
  }

  #update(state, previous) {
    this.#clip = state.view !== 'completed' ? null : this.#clip?.id === state.clip.id ? this.#clip : this.#described(state.clip)
    this.#show(state, previous)
    if (state.view === previous.view) return
    const problem = state.problem && { code: state.problem.code, message: state.problem.message }
    this.#dispatch('patchbay-audio-state', { state: state.view, previous: previous.view, clip: this.#clip, problem })
  }

  #described({ id, provider, voice, voice_name, text, created_at, mime_type, duration_ms, words }) {
    let audio = null
    return Object.freeze({
      id, provider, voice, voiceName: voice_name ?? voice, text: text ?? this.text, createdAt: created_at ? new Date(created_at) : null,
      mimeType: mime_type, durationMs: duration_ms,
      words: words ? words.map(({ text, start_ms, end_ms }) => Object.freeze({ text, startMs: start_ms, endMs: end_ms })) : null,
      blob: () => (audio ??= this.#session.audio(id).catch((error) => {
        audio = null
        this.#session.unplayable(id, error)
        throw error
      })),
    })
  }

  #play() {
    this.#dispatch('play', { clip: this.#clip })
  }

  #dispatch(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}

// The page may load both the gateway's script and a bundle that contains it.
if (globalThis.customElements && !customElements.get('patchbay-audio-button')) customElements.define('patchbay-audio-button', PatchbayAudioButton)

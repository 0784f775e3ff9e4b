// The view before a call: access, assistant, voice and devices.

import { logIn, logOut, startCall } from '../model/commands.js'
import { texts } from '../model/language.js'
import { store } from '../model/store.js'
import { AssistantSelect } from './assistant-select.js'
import './device-check.js'
import { View, field, h, setDisabled, setText, uniqueId } from './view.js'

const t = texts.start

class StartView extends View {
  #modes = {}
  #assistant = new AssistantSelect()
  #voice = h('select')
  #voiceHint = h('p')
  #email = h('input', { type: 'email', autocomplete: 'username', required: true })
  #password = h('input', { type: 'password', autocomplete: 'current-password', required: true })
  #token = h('textarea', { rows: 3, spellcheck: 'false', autocomplete: 'off', required: true })
  #logInForm
  #loggedIn
  #loggedInAs = h('span', { dir: 'auto' })
  #tokenField
  #callFields
  #callForm
  #logInButton = h('button', { type: 'submit', class: 'primary', text: t.logIn })
  #startButton = h('button', { type: 'submit', class: 'primary', text: t.call })
  #hint = h('p', { class: 'hint' })

  build() {
    const name = uniqueId('mode')
    const option = (mode) => {
      const input = h('input', { type: 'radio', name, value: mode, onchange: () => store.dispatch('start.mode', { mode }) })
      this.#modes[mode] = { input, element: h('label', {}, input, h('span', { text: t[mode] })) }
      return this.#modes[mode].element
    }
    this.#logInForm = h('form', { class: 'stack', 'aria-label': t.logIn, onsubmit: (event) => this.#logIn(event) },
      field(t.email, this.#email), field(t.password, this.#password), this.#logInButton,
      h('p', { class: 'hint', text: t.pages }))
    this.#loggedIn = h('p', { class: 'logged-in' }, h('span', {}, t.loggedInAs, this.#loggedInAs), h('button', { type: 'button', class: 'small', text: t.logOut, onclick: () => this.#logOut() }))
    this.#tokenField = field(t.accessToken, this.#token, h('p', {}, t.tokenFrom, h('code', { text: 'patchbay token --room lobby --identity alice' }), t.tokenKept))
    this.#callFields = h('div', { class: 'pair' }, this.#assistant.element, field(t.voice, this.#voice, this.#voiceHint))
    this.#callForm = h('form', { class: 'stack', 'aria-label': t.callForm, onsubmit: (event) => this.#start(event) },
      this.#tokenField, this.#callFields, h('device-check'), this.#startButton, this.#hint)
    this.append(h('div', { class: 'card start-card' },
      h('h2', { text: t.title, tabindex: -1 }),
      h('fieldset', { class: 'segments' }, h('legend', { text: t.with }), option('development'), option('account'), option('token')),
      this.#logInForm, this.#loggedIn, this.#callForm))
  }

  update(state, previous) {
    this.hidden = state.stage !== 'start'
    if (this.hidden) return
    if (previous && previous.stage !== 'start') this.querySelector('h2').focus()
    const { start, support } = state
    if (start === previous?.start && support === previous?.support && previous?.stage === state.stage) return
    const { mode, hasDevelopment, email, isBusy } = start
    this.toggleAttribute('aria-busy', mode === null)
    this.#modes.development.element.hidden = hasDevelopment === false
    for (const [key, { input }] of Object.entries(this.#modes)) input.checked = key === mode
    this.#logInForm.hidden = mode !== 'account' || email !== null
    this.#loggedIn.hidden = mode !== 'account' || email === null
    setText(this.#loggedInAs, email ?? '')
    this.#callForm.hidden = mode === null || (mode === 'account' && email === null)
    this.#tokenField.hidden = mode !== 'token'
    this.#token.required = mode === 'token'
    this.#callFields.hidden = mode === 'token'
    setDisabled(this.#logInButton, isBusy)
    setText(this.#logInButton, isBusy ? t.loggingIn : t.logIn)
    const way = support.audio ? t.asksForMicrophone : support.listening ? t.listenAndType : t.readAndType
    setText(this.#hint, mode === 'token' ? `${t.tokenDecides} ${way}` : way)
    this.#assistant.update(start)
    this.#showVoices(start, previous?.start)
  }

  #showVoices(start, previous) {
    const { hasVoices, mode, voice } = start
    if (this.#voice.options.length !== hasVoices.length + 1) {
      const chosen = this.#voice.value
      this.#voice.replaceChildren(h('option', { value: '', text: t.ownVoice }), ...hasVoices.map(({ id, name }) => h('option', { value: id, text: name ?? id })))
      this.#voice.value = hasVoices.some(({ id }) => id === (chosen || voice)) ? chosen || voice : ''
    }
    if (voice !== previous?.voice && hasVoices.some(({ id }) => id === voice)) this.#voice.value = voice
    this.#voice.disabled = mode === 'token' || hasVoices.length === 0
    const own = this.#assistant.ownVoice(start)
    setText(this.#voiceHint, mode === 'account' ? t.savedVoice : mode === 'token' ? t.tokenChoosesVoice : own ? t.currentVoice(own) : '')
  }

  async #logIn(event) {
    event.preventDefault()
    const voice = await logIn(this.#email.value, this.#password.value)
    if (voice === null) return this.#password.focus()
    this.#password.value = ''
    this.#voice.value = voice
    this.#startButton.focus()
  }

  async #logOut() {
    await logOut()
    this.#email.focus()
  }

  #start(event) {
    event.preventDefault()
    const { mode } = store.state.start
    // Voices that were not loaded cannot be chosen.
    const voice = this.#voice.disabled ? undefined : this.#voice.value
    startCall({ mode, assistant: this.#assistant.value, voice, token: this.#token.value.trim() })
  }
}

customElements.define('start-view', StartView)

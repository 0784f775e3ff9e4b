// Before a call: how to get in, which assistant, which voice.

import { logIn, logOut, lookUpAssistant, startCall } from '../model/commands.js'
import { View, field, h, setDisabled, setText, uniqueId } from './view.js'
import { store } from '../model/store.js'

const LOOK_UP_DELAY_MS = 300

class StartView extends View {
  #modes = {}
  #assistant = h('input', { type: 'text', placeholder: 'default', autocomplete: 'off', spellcheck: 'false', maxlength: 64, pattern: '[A-Za-z0-9_\\-]*', dir: 'auto' })
  #assistantHint = h('p', { dir: 'auto' })
  #voice = h('select')
  #voiceHint = h('p')
  #email = h('input', { type: 'email', autocomplete: 'username', required: true })
  #password = h('input', { type: 'password', autocomplete: 'current-password', required: true })
  #token = h('textarea', { rows: 4, spellcheck: 'false', autocomplete: 'off', required: true })
  #logInForm
  #loggedIn
  #loggedInAs = h('span', { dir: 'auto' })
  #tokenField
  #callFields
  #callForm
  #logInButton = h('button', { type: 'submit', class: 'primary', text: 'Log in' })
  #startButton = h('button', { type: 'submit', class: 'primary', text: 'Start call' })
  #hint = h('p', { class: 'hint' })
  #timer = 0

  build() {
    const name = uniqueId('mode')
    const option = (mode, label) => {
      const input = h('input', { type: 'radio', name, value: mode, onchange: () => store.dispatch('start.mode', { mode }) })
      this.#modes[mode] = { input, element: h('label', {}, input, h('span', { text: label })) }
      return this.#modes[mode].element
    }
    this.#logInForm = h('form', { class: 'stack', 'aria-label': 'Log in', onsubmit: (event) => this.#logIn(event) },
      field('E-mail address', this.#email), field('Password', this.#password), this.#logInButton)
    this.#loggedIn = h('p', { class: 'logged-in' }, h('span', {}, 'Logged in as ', this.#loggedInAs), h('button', { type: 'button', text: 'Log out', onclick: () => this.#logOut() }))
    this.#tokenField = field('Access token', this.#token, h('p', {}, 'From ', h('code', { text: 'patchbay token --room lobby --identity alice' }), '. It is kept in this page only.'))
    this.#callFields = h('div', { class: 'pair' }, field('Assistant', this.#assistant, this.#assistantHint), field('Voice', this.#voice, this.#voiceHint))
    this.#callForm = h('form', { class: 'stack', 'aria-label': 'Start a call', onsubmit: (event) => this.#start(event) },
      this.#tokenField, this.#callFields, this.#startButton, this.#hint)
    this.#assistant.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => lookUpAssistant(this.#assistant.value || 'default'), LOOK_UP_DELAY_MS)
    })
    this.append(h('div', { class: 'card start-card' },
      h('h2', { text: 'Call an assistant', tabindex: -1 }),
      h('fieldset', { class: 'segments' }, h('legend', { text: 'Connect with' }),
        option('development', 'No login'), option('account', 'Account'), option('token', 'Token')),
      this.#logInForm, this.#loggedIn, this.#callForm))
    lookUpAssistant('default')
  }

  update(state, previous) {
    this.hidden = state.stage !== 'start'
    if (this.hidden) return
    if (previous?.stage === 'call') this.querySelector('h2').focus()
    const { start, problems } = state
    if (start === previous?.start && problems === previous?.problems && previous?.stage === state.stage) return
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
    setText(this.#logInButton, isBusy ? 'Logging in…' : 'Log in')
    this.#startButton.disabled = problems.some(({ key }) => key === 'support')
    setText(this.#hint, mode === 'token' ? 'The token decides on room and assistant. Your browser asks for the microphone.' : 'Your browser asks for the microphone.')
    this.#showVoices(start)
    this.#showAssistant(start)
  }

  #showVoices({ hasVoices, mode, assistant }) {
    if (this.#voice.options.length !== hasVoices.length + 1) {
      this.#voice.replaceChildren(h('option', { value: '', text: 'The assistant’s own' }), ...hasVoices.map(({ id, name }) => h('option', { value: id, text: name ?? id })))
    }
    this.#voice.disabled = mode !== 'account' || hasVoices.length === 0
    const own = assistant?.voice
    setText(this.#voiceHint, mode === 'account' ? 'Saved in your settings.' : `Choosing one needs an account.${own ? ` Now: ${own}.` : ''}`)
  }

  #showAssistant({ assistant }) {
    const isMissing = assistant?.isMissing ?? false
    this.#assistant.toggleAttribute('aria-invalid', isMissing)
    if (isMissing) this.#assistant.setAttribute('aria-invalid', 'true')
    const about = [assistant?.name, assistant?.language].filter(Boolean).join(', ')
    setText(this.#assistantHint, isMissing ? `There is no assistant “${assistant.id}”.` : about || 'The id of its definition.')
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
    startCall({ mode, assistant: this.#assistant.value.trim() || undefined, voice: this.#voice.value, token: this.#token.value.trim() })
  }
}

customElements.define('start-view', StartView)

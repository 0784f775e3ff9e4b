// Logging in, and creating an account.

import { forgetPassword } from '../model/codes.js'
import { logIn, register } from '../model/commands.js'
import { describe } from '../model/problems.js'
import { View, field, h, markInvalid, setDisabled, setText, uniqueId } from './view.js'

class LoginView extends View {
  #isNew = false
  #email = h('input', { type: 'email', name: 'email', autocomplete: 'username', required: true, maxlength: 254 })
  #password = h('input', { type: 'password', name: 'password', required: true, minlength: 8, maxlength: 1024 })
  #passwordHint = h('p', { class: 'hint', text: 'At least 8 characters.' })
  #forgot = h('button', { type: 'button', class: 'link', text: 'Forgot your password?', onclick: () => forgetPassword(this.#email.value.trim()) })
  #submit = h('button', { type: 'submit', class: 'primary' })
  #title = h('h2', { tabindex: -1 })
  #radios = {}
  #starting = h('p', { class: 'notice hint', role: 'status', text: 'Loading your sessions…' })
  #card

  build() {
    const name = uniqueId('mode')
    const option = (key, label) => {
      this.#radios[key] = h('input', { type: 'radio', name, onchange: () => this.#choose(key === 'new') })
      return h('label', {}, this.#radios[key], h('span', { text: label }))
    }
    this.#card = h('div', { class: 'card' }, this.#title,
      h('form', { class: 'stack', onsubmit: (event) => this.#send(event) },
        h('fieldset', { class: 'segments' }, h('legend', { class: 'visually-hidden', text: 'Account' }), option('known', 'Log in'), option('new', 'Create an account')),
        h('problem-list', { keys: 'login' }),
        field('E-mail address', this.#email), field('Password', this.#password, this.#passwordHint), this.#submit, this.#forgot),
      h('p', { class: 'hint', text: 'The login is kept in this tab only. Closing it logs you out.' }))
    this.append(this.#starting, this.#card)
    this.#choose(false)
  }

  update({ stage, reset, isBusy, problems }, previous) {
    this.hidden = (stage !== 'login' && stage !== 'starting') || reset !== null
    this.#starting.hidden = stage !== 'starting' || problems.length > 0
    this.#card.hidden = stage !== 'login'
    setDisabled(this.#submit, isBusy)
    setText(this.#submit, isBusy ? 'One moment…' : this.#isNew ? 'Create account' : 'Log in')
    const problem = problems.find(({ key }) => key === 'login')
    markInvalid({ email: this.#email, password: this.#password }, problem && describe(problem).field)
    if (stage === 'login' && previous?.stage && previous.stage !== 'login') this.#title.focus()
    if (stage !== 'login' || reset !== null || !previous?.reset) return
    if (previous.reset.email) this.#email.value = previous.reset.email
    this.#forgot.focus()
  }

  #choose(isNew) {
    this.#isNew = isNew
    this.#radios[isNew ? 'new' : 'known'].checked = true
    setText(this.#title, isNew ? 'Create an account' : 'Log in to see your sessions')
    setText(this.#submit, isNew ? 'Create account' : 'Log in')
    this.#password.autocomplete = isNew ? 'new-password' : 'current-password'
    this.#passwordHint.hidden = !isNew
    this.#forgot.hidden = isNew
  }

  async #send(event) {
    event.preventDefault()
    const done = await (this.#isNew ? register : logIn)(this.#email.value, this.#password.value)
    if (done) this.#password.value = ''
    else (this.querySelector('[aria-invalid]') ?? this.#password).focus()
  }
}

customElements.define('login-view', LoginView)

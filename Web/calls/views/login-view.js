// The login. Registration and password reset are on the page of sessions.

import { logIn } from '../model/commands.js'
import { describe } from '../model/problems.js'
import { View, field, h, setAttributes, setDisabled, setText } from './view.js'

class LoginView extends View {
  #email = h('input', { type: 'email', name: 'email', autocomplete: 'username', required: true, maxlength: 254 })
  #password = h('input', { type: 'password', name: 'password', autocomplete: 'current-password', required: true, minlength: 8, maxlength: 1024 })
  #submit = h('button', { type: 'submit', class: 'primary', text: 'Log in' })
  #title = h('h2', { tabindex: -1, text: 'Log in to call and be called' })
  #starting = h('p', { class: 'notice hint', role: 'status', text: 'Loading your calls…' })
  #card

  build() {
    this.#card = h('div', { class: 'card' }, this.#title,
      h('form', { class: 'stack', 'aria-label': 'Log in', onsubmit: (event) => this.#send(event) },
        h('problem-list', { keys: 'login' }), field('E-mail address', this.#email), field('Password', this.#password), this.#submit),
      h('p', { class: 'hint' }, h('a', { href: '/sessions', text: 'Create an account or set a new password' }), ' on the page of sessions. The login is kept in this tab only.'))
    this.append(this.#starting, this.#card)
  }

  update({ stage, isBusy, problems }, previous) {
    this.hidden = stage === 'in' || stage === 'consent'
    this.#starting.hidden = stage !== 'starting' || problems.length > 0
    this.#card.hidden = stage !== 'login'
    setDisabled(this.#submit, isBusy)
    setText(this.#submit, isBusy ? 'One moment…' : 'Log in')
    const problem = problems.find(({ key }) => key === 'login')
    const wrong = problem && describe(problem).field
    setAttributes(this.#email, { 'aria-invalid': wrong === 'email' ? 'true' : '' })
    setAttributes(this.#password, { 'aria-invalid': wrong === 'password' ? 'true' : '' })
    if (stage === 'login' && previous?.stage && previous.stage !== 'login') this.#title.focus()
  }

  async #send(event) {
    event.preventDefault()
    if (await logIn(this.#email.value, this.#password.value)) this.#password.value = ''
    else this.#password.focus()
  }
}

customElements.define('login-view', LoginView)

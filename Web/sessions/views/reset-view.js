// A forgotten password: the address, then the code from the mail and a new password. Never says whether the address has an account.

import { forgetPassword, requestReset, resetPassword } from '../model/codes.js'
import { describe } from '../model/problems.js'
import { CodeSender, codeField, codeInput } from './code.js'
import { View, field, h, markInvalid, setDisabled, setText } from './view.js'

class ResetView extends View {
  #title = h('h2', { tabindex: -1, text: 'Set a new password' })
  #text = h('p', { dir: 'auto' })
  #email = h('input', { type: 'email', name: 'email', autocomplete: 'username', required: true, maxlength: 254 })
  #request = h('button', { type: 'submit', class: 'primary' })
  #code = codeInput()
  #password = h('input', { type: 'password', name: 'password', autocomplete: 'new-password', required: true, minlength: 8, maxlength: 1024 })
  #reset = h('button', { type: 'submit', class: 'primary' })
  #sender = new CodeSender(() => requestReset(this.#account.value))
  // For password managers, which store the new password with it.
  #account = h('input', { type: 'email', autocomplete: 'username', readonly: true })
  #requestForm
  #resetForm

  build() {
    this.#requestForm = h('form', { class: 'stack', 'aria-label': 'Request a code', onsubmit: (event) => this.#sendRequest(event) },
      field('E-mail address', this.#email), this.#request)
    this.#resetForm = h('form', { class: 'stack', 'aria-label': 'New password', onsubmit: (event) => this.#sendReset(event) },
      field('E-mail address', this.#account), codeField(this.#code),
      field('New password', this.#password, h('p', { text: 'At least 8 characters. Other devices are logged out.' })), this.#reset,
      this.#sender.element, h('button', { type: 'button', class: 'link', text: 'Use another address', onclick: () => forgetPassword(this.#account.value) }))
    this.append(h('div', { class: 'card' }, this.#title, this.#text, h('problem-list', { keys: 'reset' }), this.#requestForm, this.#resetForm,
      h('button', { type: 'button', class: 'link', text: 'Back to login', onclick: () => forgetPassword(null) })))
  }

  update({ stage, reset, codes, isBusy, problems }, previous) {
    this.hidden = stage !== 'login' || reset === null
    if (this.hidden) return
    const { isSent } = codes.reset
    this.#requestForm.hidden = isSent
    this.#resetForm.hidden = !isSent
    setText(this.#text, isSent
      ? `If ${reset.email} has an account, a code was sent to it, which is valid for 15 minutes. Look for it under spam, too.`
      : 'Enter the address of your account. A code for a new password is sent to it.')
    for (const button of [this.#request, this.#reset]) setDisabled(button, isBusy)
    setText(this.#request, isBusy ? 'One moment…' : 'Send a code')
    setText(this.#reset, isBusy ? 'One moment…' : 'Set password and log in')
    this.#sender.update(codes.reset)
    const problem = problems.find(({ key }) => key === 'reset')
    markInvalid({ code: this.#code }, problem && describe(problem).field)
    if (reset !== previous?.reset) this.#email.value = this.#account.value = reset.email
    if (!previous?.reset) this.#title.focus()
    else if (isSent && !previous.codes.reset.isSent) this.#code.focus()
    else if (!isSent && previous.codes.reset.isSent) this.#email.focus()
  }

  async #sendRequest(event) {
    event.preventDefault()
    if (!(await requestReset(this.#email.value.trim()))) this.#email.focus()
  }

  async #sendReset(event) {
    event.preventDefault()
    const isDone = await resetPassword(this.#account.value, this.#code.value, this.#password.value)
    if (isDone) this.#code.value = this.#password.value = ''
    else this.#code.focus()
  }
}

customElements.define('reset-view', ResetView)

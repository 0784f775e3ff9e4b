// Within the settings: whether the e-mail address is confirmed, and confirming it.

import { confirmAddress, requestConfirmation } from '../model/codes.js'
import { describe } from '../model/problems.js'
import { CodeSender, codeField, codeInput } from './code.js'
import { View, h, markInvalid, setDisabled, setText } from './view.js'

class AddressSettings extends View {
  #address = h('span', { class: 'address', dir: 'auto' })
  #state = h('span', { class: 'pill' })
  #summary = h('p', { class: 'row', tabindex: -1 }, this.#address, this.#state)
  #begin = h('div', { class: 'stack' },
    h('p', { class: 'hint', text: 'A code is sent to the address. Entering it here shows that the address is yours.' }),
    h('div', {}, h('button', { type: 'button', text: 'Confirm address…', onclick: () => this.#request() })))
  #code = codeInput()
  #confirm = h('button', { type: 'submit', class: 'primary', text: 'Confirm' })
  #sender = new CodeSender(() => requestConfirmation('address'))
  #form

  build() {
    this.#form = h('form', { class: 'stack', 'aria-label': 'Confirm the address', onsubmit: (event) => this.#send(event) },
      h('div', { class: 'short' }, codeField(this.#code)), h('div', { class: 'row' }, this.#confirm, this.#sender.element))
    this.append(this.#summary, this.#begin, h('problem-list', { keys: 'address' }), this.#form)
  }

  update({ user, codes, isBusy, problems }) {
    const isConfirmed = user?.email_confirmed ?? false
    setText(this.#address, user?.email ?? '')
    setText(this.#state, isConfirmed ? 'Confirmed' : 'Not confirmed')
    this.#state.dataset.tone = isConfirmed ? 'good' : 'warning'
    this.#begin.hidden = isConfirmed || codes.confirmation.isSent
    this.#form.hidden = isConfirmed || !codes.confirmation.isSent
    setDisabled(this.#confirm, isBusy)
    this.#sender.update(codes.confirmation)
    const problem = problems.find(({ key }) => key === 'address')
    markInvalid({ code: this.#code }, problem && describe(problem).field)
  }

  /** A code that was sent just now is as good as a new one. */
  async #request() {
    await requestConfirmation('address')
    if (!this.#form.hidden) this.#code.focus()
  }

  async #send(event) {
    event.preventDefault()
    if (!(await confirmAddress(this.#code.value, 'address'))) return this.#code.focus()
    this.#code.value = ''
    this.#summary.focus()
  }
}

customElements.define('address-settings', AddressSettings)

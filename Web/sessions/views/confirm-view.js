// Where the gateway requires a confirmed address: the code from the mail.

import { confirmAddress, requestConfirmation } from '../model/codes.js'
import { describe } from '../model/problems.js'
import { CodeSender, codeField, codeInput } from './code.js'
import { View, h, markInvalid, setDisabled, setText } from './view.js'

class ConfirmView extends View {
  #title = h('h2', { tabindex: -1, text: 'Confirm your e-mail address' })
  #text = h('p', { dir: 'auto' })
  #code = codeInput()
  #confirm = h('button', { type: 'submit', class: 'primary', text: 'Confirm' })
  #sender = new CodeSender(() => requestConfirmation('confirm'))

  build() {
    this.append(h('div', { class: 'card' }, this.#title, this.#text,
      h('form', { class: 'stack', 'aria-label': 'Confirm the address', onsubmit: (event) => this.#send(event) },
        h('problem-list', { keys: 'confirm' }), codeField(this.#code), h('div', { class: 'row' }, this.#confirm, this.#sender.element))))
  }

  update({ stage, user, codes, isBusy, problems }, previous) {
    this.hidden = stage !== 'unconfirmed'
    const address = user?.email ?? 'your address'
    setText(this.#text, codes.confirmation.isSent
      ? `A code was sent to ${address}. Enter it to see your sessions.`
      : `This gateway shows sessions only after you have confirmed ${address}. Have a code sent to it, or enter the one that you have.`)
    setDisabled(this.#confirm, isBusy)
    this.#sender.update(codes.confirmation)
    const problem = problems.find(({ key }) => key === 'confirm')
    markInvalid({ code: this.#code }, problem && describe(problem).field)
    if (stage === 'unconfirmed' && previous && previous.stage !== 'unconfirmed') this.#title.focus()
  }

  async #send(event) {
    event.preventDefault()
    if (await confirmAddress(this.#code.value, 'confirm')) this.#code.value = ''
    else this.#code.focus()
  }
}

customElements.define('confirm-view', ConfirmView)

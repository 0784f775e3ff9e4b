// Where the gateway requires a confirmed address: the code from the mail.

import { confirmAddress, resendCode } from '../model/commands.js'
import { View, field, h, setText } from './view.js'

class ConfirmView extends View {
  #title = h('h2', { tabindex: -1, text: 'Confirm your e-mail address' })
  #text = h('p', { dir: 'auto' })
  #code = h('input', { type: 'text', autocomplete: 'one-time-code', autocapitalize: 'characters', spellcheck: 'false', required: true, maxlength: 32 })

  build() {
    this.append(h('div', { class: 'card' }, this.#title, this.#text,
      h('form', { class: 'stack', onsubmit: (event) => this.#send(event) },
        h('problem-list', { keys: 'confirm' }), field('Code', this.#code, h('p', { text: 'Eight characters. Case, spaces and hyphens do not matter.' })),
        h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary', text: 'Confirm' }),
          h('button', { type: 'button', text: 'Send a new code', onclick: resendCode })))))
  }

  update({ stage, user }, previous) {
    this.hidden = stage !== 'unconfirmed'
    setText(this.#text, `A code was sent to ${user?.email ?? 'your address'}. Enter it to see your sessions.`)
    if (stage === 'unconfirmed' && previous && previous.stage !== 'unconfirmed') this.#title.focus()
  }

  async #send(event) {
    event.preventDefault()
    if (!(await confirmAddress(this.#code.value))) this.#code.focus()
  }
}

customElements.define('confirm-view', ConfirmView)

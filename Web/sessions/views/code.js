// What forms for codes share: the field, and "Send a new code" with the time when that is possible again.

import { announce } from '../../shared/announce.js'
import { field, h, setText, uniqueId } from './view.js'

/** Checks the form of a code before it is sent: a code is void after five wrong ones. */
export const codeInput = () => h('input', {
  type: 'text', autocomplete: 'one-time-code', autocapitalize: 'characters', spellcheck: 'false', required: true, maxlength: 32,
  pattern: '(?:[\\s\\p{Dash}]*[A-Za-z0-9]){8}[\\s\\p{Dash}]*', title: 'Eight letters and digits',
})

export const codeField = (input) => field('Code', input, h('p', { text: 'Eight letters and digits. Case, spaces and hyphens do not matter.' }))

/** The button keeps the focus while it has to wait, and says how long. */
export class CodeSender {
  #hint = h('p', { class: 'hint', id: uniqueId('wait') })
  #button
  #nextAt = 0
  #timer = 0

  constructor(send) {
    this.#button = h('button', { type: 'button', text: 'Send a new code', 'aria-describedby': this.#hint.id, onclick: () => this.#press(send) })
    this.element = h('div', { class: 'row' }, this.#button, this.#hint)
  }

  /** `nextAt`: when the next code is possible, in milliseconds. */
  update({ nextAt }) {
    if (nextAt === this.#nextAt) return
    this.#nextAt = nextAt
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#show(), 1000)
    this.#show()
  }

  #show() {
    const isWaiting = this.#seconds > 0
    if (!isWaiting) clearInterval(this.#timer)
    this.#button.ariaDisabled = isWaiting ? 'true' : null
    setText(this.#hint, isWaiting ? `Possible again in ${this.#wait}.` : '')
  }

  #press(send) {
    if (this.#seconds > 0) announce(`A new code can be sent in ${this.#wait}.`)
    else send()
  }

  get #seconds() {
    return Math.max(0, Math.ceil((this.#nextAt - Date.now()) / 1000))
  }

  get #wait() {
    return this.#seconds === 1 ? '1 second' : `${this.#seconds} seconds`
  }
}

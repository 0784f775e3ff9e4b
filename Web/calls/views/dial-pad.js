// A keypad for tones (DTMF). While it is open, digits typed on the keyboard are sent, too.

import { phone } from '../model/phone.js'
import { shownCall } from '../model/state.js'
import { View, h, setDisabled, setText } from './view.js'

const KEYS = [['1', ''], ['2', 'ABC'], ['3', 'DEF'], ['4', 'GHI'], ['5', 'JKL'], ['6', 'MNO'], ['7', 'PQRS'], ['8', 'TUV'], ['9', 'WXYZ'], ['*', ''], ['0', '+'], ['#', '']]
// Names for screen readers.
const NAMES = { '*': 'Star', '#': 'Hash' }

class DialPad extends View {
  #digits = h('output', { class: 'digits', 'aria-label': 'Sent tones' })
  #keys = KEYS.map(([digit, letters]) => h('button', { type: 'button', class: 'key', onclick: () => phone.sendDigit(digit) },
    h('span', { text: digit, 'aria-hidden': digit in NAMES && 'true' }), ' ', digit in NAMES ? h('span', { class: 'visually-hidden', text: NAMES[digit] }) : h('small', { text: letters })))
  #typed = ({ key, ctrlKey, metaKey, altKey, target }) => {
    if (this.hidden || ctrlKey || metaKey || altKey || /^(input|textarea|select)$/i.test(target.tagName) || !/^[0-9*#]$/.test(key)) return
    phone.sendDigit(key)
  }

  build() {
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', 'Keypad')
    this.append(this.#digits, h('div', { class: 'keys' }, ...this.#keys))
  }

  connectedCallback() {
    super.connectedCallback()
    document.addEventListener('keydown', this.#typed)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    document.removeEventListener('keydown', this.#typed)
  }

  update(state) {
    const call = shownCall(state)
    this.hidden = !state.hasKeypad || call === null
    setText(this.#digits, state.digits || '\u00a0')
    for (const key of this.#keys) setDisabled(key, call === null || call.state === 'connecting')
  }
}

customElements.define('dial-pad', DialPad)

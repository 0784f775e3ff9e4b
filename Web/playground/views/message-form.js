// Text input: what is typed reaches the assistant like speech.

import { call } from '../model/call.js'
import { texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import { View, h, setDisabled } from './view.js'

class MessageForm extends View {
  #input = h('input', { type: 'text', 'aria-label': texts.call.message, placeholder: texts.call.messageHint, autocomplete: 'off', maxlength: 4000, dir: 'auto' })
  #button = h('button', { type: 'submit', text: texts.call.send })

  build() {
    this.append(h('form', { class: 'row', onsubmit: (event) => this.#send(event) }, this.#input, this.#button))
  }

  update(state) {
    this.hidden = !isInCall(state)
    setDisabled(this.#button, state.room.state !== 'connected')
  }

  async #send(event) {
    event.preventDefault()
    const text = this.#input.value.trim()
    this.#input.focus()
    if (!text) return
    // Cleared at once: what is typed meanwhile is the next message.
    this.#input.value = ''
    if (!(await call.sendText(text)) && !this.#input.value) this.#input.value = text
  }
}

customElements.define('message-form', MessageForm)

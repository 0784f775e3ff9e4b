// Mute, hold, interrupt and leave.

import { call } from '../model/call.js'
import { commands } from '../model/commands.js'
import { texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import { View, h, setDisabled, setText } from './view.js'

class CallControls extends View {
  #mute = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.#toggleMute() })
  #hold = h('button', { type: 'button', 'aria-pressed': 'false', text: texts.call.hold, onclick: () => call.setHeld(!this.#state.isHeld) })
  #interrupt = h('button', { type: 'button', text: texts.call.interrupt, onclick: () => call.interrupt() })
  #leave = h('button', { type: 'button', class: 'danger', text: texts.call.leave, onclick: commands['call.leave'] })
  #state

  build() {
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', texts.call.controls)
    this.append(this.#mute, this.#hold, this.#interrupt, this.#leave)
  }

  update(state) {
    this.#state = state
    this.hidden = !isInCall(state)
    const { room, microphone, isHeld, support } = state
    const isConnected = room.state === 'connected'
    setText(this.#mute, { on: texts.call.mute, waiting: texts.call.waiting, off: texts.call.turnOnMicrophone }[microphone.state])
    setPressed(this.#mute, microphone.state === 'on' ? microphone.muted : null)
    setDisabled(this.#mute, !isConnected || !support.audio || microphone.state === 'waiting')
    setPressed(this.#hold, isHeld)
    setDisabled(this.#hold, !isConnected)
    setDisabled(this.#interrupt, !isConnected)
  }

  #toggleMute() {
    const { state, muted } = this.#state.microphone
    return state === 'on' ? call.setMuted(!muted) : call.enableMicrophone()
  }
}

/** Null: not a toggle at the moment. */
function setPressed(button, value) {
  if (value === null) button.removeAttribute('aria-pressed')
  else button.setAttribute('aria-pressed', String(value))
}

customElements.define('call-controls', CallControls)

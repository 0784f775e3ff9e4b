// The minimized call, at the bottom of the page.

import { phone } from '../model/phone.js'
import { titleOf } from '../model/people.js'
import { shownCall } from '../model/state.js'
import { store } from '../model/store.js'
import { View, duration, focusAfterCall, h, setPressed, setText, statusOf } from './view.js'

class CallBar extends View {
  #name = h('strong', { dir: 'auto' })
  #status = h('span', { class: 'hint' })
  #back = h('button', { type: 'button', class: 'back-to-call', onclick: () => store.dispatch('minimized', { isMinimized: false }) },
    h('span', { class: 'visually-hidden', text: 'Return to the call with ' }), this.#name, ' ', this.#status)
  #mute = h('button', { type: 'button', text: 'Mute', onclick: () => phone.setMuted(this.#call.id, !this.#call.mutedByUs) })
  #end = h('button', { type: 'button', class: 'end', text: 'End call', onclick: () => phone.hangUp(this.#call.id) })
  #call = null
  #timer = 0

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Minimized call')
    this.append(this.#back, this.#mute, this.#end)
    this.#timer = setInterval(() => this.#show(), 1000)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  update(state) {
    const wasHidden = this.hidden
    const hadFocus = this.contains(document.activeElement)
    this.#call = shownCall(state)
    this.hidden = this.#call === null || !state.isMinimized
    if (hadFocus && this.#call === null) focusAfterCall()
    if (this.hidden) return
    setText(this.#name, titleOf(this.#call, state))
    setPressed(this.#mute, this.#call.mutedByUs)
    this.#show()
    if (wasHidden) this.#back.focus()
  }

  #show() {
    if (this.hidden || !this.#call) return
    const { answeredAt, state, id } = this.#call
    setText(this.#status, state === 'active' && answeredAt ? duration(Date.now() - Number(answeredAt)) : statusOf(this.#call, store.state.audio[id]).text)
  }
}

customElements.define('call-bar', CallBar)

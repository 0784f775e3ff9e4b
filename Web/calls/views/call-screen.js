// The shown call: its parties, state, duration and controls.

import { phone } from '../model/phone.js'
import { titleOf } from '../model/people.js'
import { joined, shownCall } from '../model/state.js'
import { store } from '../model/store.js'
import './dial-pad.js'
import { View, duration, focusAfterCall, h, keepFocus, setDisabled, setPressed, setText, statusOf } from './view.js'

class CallScreen extends View {
  #title = h('h2', { tabindex: -1, dir: 'auto' })
  #status = h('span', { class: 'pill' })
  #time = h('span', { class: 'timer', role: 'timer', 'aria-label': 'Duration of the call' })
  #heard = h('p', { class: 'hint', role: 'status' })
  #members = h('ul', { class: 'members', 'aria-label': 'In this call' })
  #mute = this.#button('Mute', () => phone.setMuted(this.#call.id, !this.#call.mutedByUs))
  #hold = this.#button('Hold', () => phone.setHeld(this.#call.id, !this.#call.heldByUs))
  #keypad = this.#button('Keypad', () => store.dispatch('keypad', { isOpen: !store.state.hasKeypad }))
  #add = this.#button('Add…', () => this.#openForm(this.#form.hidden))
  #minimize = this.#button('Minimize', () => store.dispatch('minimized', { isMinimized: true }))
  #end = h('button', { type: 'button', class: 'end', text: 'End call', onclick: () => phone.hangUp(this.#call.id) })
  #address = h('input', { type: 'text', 'aria-label': 'Whom to add', placeholder: 'E-mail address or @handle', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', maxlength: 256, required: true, dir: 'auto' })
  #form = h('form', { class: 'row', 'aria-label': 'Add somebody', hidden: true, onsubmit: (event) => this.#invite(event) }, this.#address, h('button', { type: 'submit', text: 'Add' }))
  #others = h('ul', { class: 'others', 'aria-label': 'Other calls' })
  #call = null
  #timer = 0

  #button(text, onclick) {
    return h('button', { type: 'button', text, onclick })
  }

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Call')
    this.append(
      h('div', { class: 'call-head' }, this.#title, h('p', { class: 'row' }, this.#status, this.#time), this.#heard), this.#members,
      h('div', { class: 'controls', role: 'group', 'aria-label': 'Call controls' }, this.#mute, this.#hold, this.#keypad, this.#add, this.#minimize, this.#end),
      this.#form, h('problem-list', { keys: 'invite' }), h('dial-pad', { hidden: true }), this.#others)
    this.#timer = setInterval(() => this.#showTime(), 1000)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  update(state, previous) {
    const call = shownCall(state)
    const wasHidden = this.hidden
    const hadFocus = this.contains(document.activeElement)
    this.hidden = call === null || state.isMinimized
    if (hadFocus && call === null) focusAfterCall()
    const isNew = call !== null && call.id !== this.#call?.id
    this.#call = call
    if (call === null) return this.#openForm(false)
    if (isNew) this.#openForm(false)
    const { text, tone } = statusOf(call, state.audio[call.id])
    setText(this.#title, titleOf(call, state))
    setText(this.#status, text)
    this.#status.dataset.tone = tone
    const heard = state.audio[call.id]?.heardDigits
    setText(this.#heard, heard ? `Tones received: ${heard}` : '')
    const isActive = call.state !== 'connecting'
    setPressed(this.#mute, call.mutedByUs)
    setPressed(this.#hold, call.heldByUs)
    this.#keypad.setAttribute('aria-expanded', String(state.hasKeypad))
    this.#add.setAttribute('aria-expanded', String(!this.#form.hidden))
    setDisabled(this.#hold, !isActive)
    setDisabled(this.#keypad, !isActive)
    setText(this.#end, isActive ? 'End call' : 'Cancel')
    this.#showMembers(call, state)
    this.#showOthers(state, previous)
    this.#showTime()
    if (previous && !this.hidden && (wasHidden || isNew)) this.#title.focus()
  }

  #showMembers(call, state) {
    const members = call.others.length > 1 ? call.others.filter(({ state: relation }) => relation !== 'left') : []
    this.#members.hidden = members.length === 0
    const lines = members.map(({ party, state: relation, held, muted }) => {
      const note = relation === 'invited' ? 'ringing' : held ? 'on hold' : muted ? 'muted' : ''
      return titleOf({ others: [{ party, state: 'joined' }] }, state) + (note && ` (${note})`)
    })
    if (lines.join('\n') === [...this.#members.children].map(({ textContent }) => textContent).join('\n')) return
    this.#members.replaceChildren(...lines.map((text) => h('li', { dir: 'auto', text })))
  }

  #showOthers(state, previous) {
    if (state.calls === previous?.calls && state.shown === previous?.shown) return
    const others = joined(state).filter(({ id }) => id !== state.shown)
    this.#others.hidden = others.length === 0
    keepFocus(this.#others, () => this.#others.replaceChildren(...others.map((call) => {
      const name = titleOf(call, state)
      return h('li', { class: 'row spread' },
        h('span', {}, h('strong', { text: name, dir: 'auto' }), ' ', h('span', { class: 'hint', text: call.heldByUs ? 'on hold' : statusOf(call, state.audio[call.id]).text.toLowerCase() })),
        h('span', { class: 'row' },
          h('button', { type: 'button', class: 'small', 'aria-label': `Switch to ${name}`, text: 'Switch', onclick: () => phone.setHeld(call.id, false) }),
          h('button', { type: 'button', class: 'small danger', 'aria-label': `End the call with ${name}`, text: 'End', onclick: () => phone.hangUp(call.id) })))
    })), () => this.#title)
  }

  #showTime() {
    const { startedAt, answeredAt } = this.#call ?? {}
    const from = this.#call?.state === 'connecting' ? null : answeredAt ?? startedAt
    setText(this.#time, from ? duration(Date.now() - Number(from)) : '')
  }

  #openForm(isOpen) {
    if (this.#form.hidden === !isOpen) return
    this.#form.hidden = !isOpen
    this.#add.setAttribute('aria-expanded', String(isOpen))
    if (isOpen) this.#address.focus()
  }

  async #invite(event) {
    event.preventDefault()
    if (!(await phone.invite(this.#call.id, this.#address.value.trim()))) return this.#address.focus()
    this.#address.value = ''
    this.#openForm(false)
    this.#add.focus()
  }
}

customElements.define('call-screen', CallScreen)

// Incoming calls with buttons to answer. They do not take the focus, so that typing cannot answer a call.

import { announce } from '../../shared/announce.js'
import { phone } from '../model/phone.js'
import { nameOf, titleOf } from '../model/people.js'
import { ringing, talking } from '../model/state.js'
import { View, h, keepFocus, setText } from './view.js'

class IncomingCalls extends View {
  // Cards by call.
  #cards = new Map()

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Incoming calls')
  }

  update(state, previous) {
    const calls = state.stage === 'in' ? ringing(state) : []
    this.hidden = calls.length === 0
    for (const call of calls) {
      if (!previous || !ringing(previous).some(({ id }) => id === call.id)) announce(`${nameOf(call.caller, state)} is calling`, { isError: true })
    }
    const isTalking = talking(state).length > 0
    keepFocus(this, () => {
      for (const [id, { element }] of this.#cards) {
        if (calls.some((call) => call.id === id)) continue
        element.remove()
        this.#cards.delete(id)
      }
      for (const call of calls) {
        if (!this.#cards.has(call.id)) this.#add(call)
        this.#show(this.#cards.get(call.id), call, state, isTalking)
      }
    }, () => this.querySelector('button') ?? document.getElementById('main'))
  }

  #add({ id }) {
    const button = (text, name, onclick) => h('button', { type: 'button', class: name, text, onclick })
    const card = {
      name: h('h2', { dir: 'auto' }), text: h('p', { class: 'hint' }),
      answer: button('Answer', 'answer', () => phone.answer(id)),
      replace: button('End and answer', 'answer', () => phone.answer(id, { ends: true })),
      decline: button('Decline', 'end', () => phone.decline(id)),
      element: null,
    }
    card.element = h('section', { class: 'incoming' }, h('div', {}, card.name, card.text), h('div', { class: 'row' }, card.answer, card.replace, card.decline))
    this.#cards.set(id, card)
    this.append(card.element)
  }

  #show({ name, text, answer, replace }, call, state, isTalking) {
    setText(name, nameOf(call.caller, state))
    const others = call.others.filter(({ party, state: relation }) => party !== call.caller && relation !== 'left')
    setText(text, others.length ? `calls you and ${titleOf({ others }, state)}` : 'is calling you')
    setText(answer, isTalking ? 'Hold and answer' : 'Answer')
    replace.hidden = !isTalking
  }
}

customElements.define('incoming-calls', IncomingCalls)

// Cards of the assistant: drafts whose text can be edited, errors with "Try again", and information.

import { h, setAttributes, setDisabled, setText, uniqueId } from '../../shared/elements.js'
import { textsOf } from '../model/texts.js'
import { icon } from './icons.js'

const icons = { draft: 'draft', error: 'warning', info: 'info' }

export class CardList {
  element = h('div', { class: 'cards', part: 'cards' })
  #session
  // By card id.
  #views = new Map()

  constructor(session) {
    this.#session = session
  }

  update(state) {
    const { call } = state
    const texts = textsOf(state)
    const ids = new Set(call.cards.map(({ id }) => id))
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue
      view.element.remove()
      this.#views.delete(id)
    }
    for (const card of call.cards) {
      let view = this.#views.get(card.id)
      if (!view) {
        view = new CardView(this.#session)
        this.#views.set(card.id, view)
        this.element.append(view.element)
      }
      view.update(card, texts)
    }
    this.element.hidden = call.cards.length === 0
  }
}

class CardView {
  #session
  #card = null
  #texts = null
  #kind = h('p', { class: 'card-kind' })
  #title = h('h3', { dir: 'auto' })
  #body = h('p', { class: 'card-body', dir: 'auto' })
  #editor = h('textarea', { class: 'card-body', dir: 'auto', rows: 4 })
  #actions = h('div', { class: 'actions' })
  #note = h('p', { class: 'card-note' })
  #dismiss

  constructor(session) {
    this.#session = session
    this.#title.id = uniqueId('card')
    this.#dismiss = h('button', { type: 'button', class: 'button icon-button', onclick: () => session.dismissCard(this.#card) }, icon('close'))
    this.element = h('article', { class: 'card', part: 'card', 'aria-labelledby': this.#title.id },
      h('div', { class: 'card-head' }, this.#kind, this.#dismiss), this.#title, this.#body, this.#editor, this.#note, this.#actions)
  }

  update(card, texts) {
    const previous = this.#card
    const isNewLanguage = texts !== this.#texts
    if (card === previous && !isNewLanguage) return
    this.#card = card
    this.#texts = texts
    const { kind, title, body, actions, status } = card
    const isDraft = kind === 'draft'
    const isRevised = previous?.kind !== kind || previous.title !== title || previous.body !== body || previous.actions !== actions
    // A revision of the assistant replaces what was edited.
    if (isRevised) {
      this.element.dataset.kind = kind
      setText(this.#title, title)
      setText(this.#body, body)
      this.#editor.value = body
      this.#body.hidden = isDraft || body === ''
      this.#editor.hidden = !isDraft
      this.#actions.replaceChildren(...actions.map((action, index) => h('button', {
        // The last action of a draft completes it ("Edit", "Send").
        type: 'button', class: index === (isDraft ? actions.length - 1 : 0) ? 'button primary' : 'button', part: 'button', dir: 'auto',
        onclick: () => this.#session.answerCard(this.#card, { ...action, title: this.#titleOf(action) }, this.#fields()),
      })))
      this.#actions.hidden = actions.length === 0
    }
    if (isRevised || isNewLanguage) this.#name(card, texts)
    this.#note.hidden = status !== 'refused'
    this.#editor.readOnly = status === 'sending'
    for (const button of this.#actions.children) setDisabled(button, status === 'sending')
  }

  #name({ kind, actions }, { cards }) {
    this.#kind.replaceChildren(icon(icons[kind]), cards[kind])
    setText(this.#note, cards.refused)
    setAttributes(this.#editor, { 'aria-label': cards.body })
    setAttributes(this.#dismiss, { 'aria-label': cards.dismiss })
    for (const [index, button] of [...this.#actions.children].entries()) setText(button, this.#titleOf(actions[index]))
  }

  #titleOf(action) {
    return action.title ?? this.#texts.actions[action.id]
  }

  /** What was edited, or undefined. */
  #fields() {
    const isEdited = this.#card.kind === 'draft' && this.#editor.value !== this.#card.body
    return isEdited ? { body: this.#editor.value } : undefined
  }
}

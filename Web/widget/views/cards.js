// Cards of the assistant: drafts whose text can be edited, errors with "Try again", and information.

import { h, setText, uniqueId } from '../../shared/elements.js'
import { icon } from './icons.js'

const icons = { draft: 'draft', error: 'warning', info: 'info' }
const kinds = { draft: 'Draft', error: 'Failed', info: 'Information' }

export class CardList {
  element = h('div', { class: 'cards', part: 'cards' })
  #session
  // By card id.
  #views = new Map()

  constructor(session) {
    this.#session = session
  }

  update({ call }) {
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
      view.update(card)
    }
    this.element.hidden = call.cards.length === 0
  }
}

class CardView {
  #session
  #card = null
  #kind = h('p', { class: 'card-kind' })
  #title = h('h3', { dir: 'auto' })
  #body = h('p', { class: 'card-body', dir: 'auto' })
  #editor = h('textarea', { class: 'card-body', dir: 'auto', rows: 4, 'aria-label': 'Text of the draft' })
  #actions = h('div', { class: 'actions' })
  #note = h('p', { class: 'card-note', text: 'That did not arrive. Check your connection, then choose again.' })

  constructor(session) {
    this.#session = session
    this.#title.id = uniqueId('card')
    const dismiss = h('button', { type: 'button', class: 'button icon-button', 'aria-label': 'Dismiss this card', onclick: () => session.dismissCard(this.#card) }, icon('close'))
    this.element = h('article', { class: 'card', part: 'card', 'aria-labelledby': this.#title.id },
      h('div', { class: 'card-head' }, this.#kind, dismiss), this.#title, this.#body, this.#editor, this.#note, this.#actions)
  }

  update(card) {
    const previous = this.#card
    if (card === previous) return
    this.#card = card
    const { kind, title, body, actions, status } = card
    const isDraft = kind === 'draft'
    // A revision of the assistant replaces what was edited.
    if (previous?.kind !== kind || previous.title !== title || previous.body !== body || previous.actions !== actions) {
      this.element.dataset.kind = kind
      this.#kind.replaceChildren(icon(icons[kind]), kinds[kind])
      setText(this.#title, title)
      setText(this.#body, body)
      this.#editor.value = body
      this.#body.hidden = isDraft || body === ''
      this.#editor.hidden = !isDraft
      this.#actions.replaceChildren(...actions.map((action, index) => h('button', {
        // The last action of a draft completes it ("Edit", "Send").
        type: 'button', class: index === (isDraft ? actions.length - 1 : 0) ? 'button primary' : 'button', part: 'button', dir: 'auto', text: action.title,
        onclick: () => this.#session.answerCard(this.#card, action, this.#fields()),
      })))
      this.#actions.hidden = actions.length === 0
    }
    this.#note.hidden = status !== 'refused'
    this.#editor.readOnly = status === 'sending'
    for (const button of this.#actions.children) button.disabled = status === 'sending'
  }

  /** What was edited, or undefined. */
  #fields() {
    const isEdited = this.#card.kind === 'draft' && this.#editor.value !== this.#card.body
    return isEdited ? { body: this.#editor.value } : undefined
  }
}

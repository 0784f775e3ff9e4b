// A card that asks whether conversations are kept.

import { consentTexts } from './consent.js'
import { h, setDisabled } from './elements.js'

export class ConsentCard {
  #title
  #buttons

  /** `answer(isAllowed)` is called when a button is clicked. `others` are shown below the buttons. */
  constructor(answer, { language = 'en', others = [] } = {}) {
    const { title, text, points, later, allow, deny } = consentTexts[language]
    this.#title = h('h2', { tabindex: -1, text: title })
    this.#buttons = [[allow, true, 'primary'], [deny, false, '']].map(([label, isAllowed, kind]) =>
      h('button', { type: 'button', class: kind, text: label, onclick: () => answer(isAllowed) }))
    this.element = h('div', { class: 'card consent' }, this.#title, h('p', { text }), h('ul', {}, ...points.map((point) => h('li', { text: point }))),
      h('p', { class: 'hint', text: later }), h('div', { class: 'consent-actions' }, ...this.#buttons), ...others)
  }

  update(isBusy) {
    for (const button of this.#buttons) setDisabled(button, isBusy)
  }

  focus() {
    this.#title.focus()
  }
}

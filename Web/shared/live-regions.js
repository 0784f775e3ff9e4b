// Regions that screen readers read when a line is added. Errors interrupt, everything else waits.

import { h, setAttributes } from './elements.js'

const LINE_MS = 5000

export class LiveRegions {
  #polite = h('div', { role: 'status', 'aria-live': 'polite' })
  #assertive = h('div', { role: 'alert', 'aria-live': 'assertive' })
  element = h('div', { class: 'visually-hidden' }, this.#polite, this.#assertive)

  /** Adds a line, which is read once, and removes it later so that nobody finds it when reading the page. */
  say(text, { isError = false, language = '' } = {}) {
    const line = h('p', { text })
    setAttributes(line, { lang: language })
    ;(isError ? this.#assertive : this.#polite).append(line)
    setTimeout(() => line.remove(), LINE_MS)
  }
}

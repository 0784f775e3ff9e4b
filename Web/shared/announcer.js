// Tells screen readers what has changed. Errors interrupt, everything else waits.

import { h } from './elements.js'

const LINE_MS = 5000
const polite = h('div', { role: 'status', 'aria-live': 'polite', class: 'visually-hidden' })
const assertive = h('div', { role: 'alert', 'aria-live': 'assertive', class: 'visually-hidden' })
document.body.append(polite, assertive)

/** Adds a line, which is read once, and removes it later so that nobody finds it when reading the page. */
export function announce(text, { isError = false } = {}) {
  const line = h('p', { text })
  ;(isError ? assertive : polite).append(line)
  setTimeout(() => line.remove(), LINE_MS)
}

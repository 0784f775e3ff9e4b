// Problems on the page: what is wrong, and buttons for what to do next.

import { h } from './elements.js'

/** `actions`: `[{label, run}]` or, for links, `[{label, href}]`. `severity`: error, warning or info. */
export function problemCard({ severity = 'error', title, text, actions = [] }) {
  return h('section', { class: 'problem', 'data-severity': severity },
    h('div', {}, h('h2', { text: title }), h('p', { text, dir: 'auto' })),
    actions.length
      ? h('div', { class: 'problem-actions' }, ...actions.map(({ label, run, href }) =>
        href ? h('a', { class: 'button', href, text: label }) : h('button', { type: 'button', text: label, onclick: () => run() })))
      : null)
}

/** Shows cards instead of the earlier ones. `takesFocus`: it would be lost with a button; the next button or the page's content gets it. */
export function replaceCards(list, cards, takesFocus = list.contains(document.activeElement)) {
  list.replaceChildren(...cards)
  if (takesFocus) (list.querySelector('button') ?? document.getElementById('main')).focus()
}

/** A command to copy into a shell. */
export const command = (text) => h('code', { class: 'command', text })

// What is wrong and what to do next, above everything else. The announcer reads it out, so this is no live region.

import { replaceCards } from '../../shared/problem-card.js'
import { commands } from '../model/commands.js'
import { texts } from '../model/language.js'
import { describe } from '../model/problems.js'
import { View, h, setText } from './view.js'

class ProblemList extends View {
  #timer = 0
  #countdowns = []

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', texts.call.problems)
    this.#timer = setInterval(() => this.#count(), 250)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  update({ problems }, previous) {
    if (problems === previous?.problems) return
    this.hidden = problems.length === 0
    this.#countdowns = []
    const hasEnded = problems.some(({ key }) => key === 'ended') && !previous?.problems.some(({ key }) => key === 'ended')
    // The controls that had the focus disappear with the call.
    replaceCards(this, problems.map((problem) => this.#card(problem)), hasEnded || this.contains(document.activeElement))
    this.#count()
  }

  #card(problem) {
    const { severity, title, text, actions, countdown } = describe(problem)
    const remaining = countdown ? h('p', { class: 'countdown', 'aria-hidden': 'true' }) : null
    if (remaining) this.#countdowns.push({ element: remaining, until: problem.since + countdown * 1000 })
    return h('section', { class: 'problem', 'data-severity': severity },
      h('div', {}, h('h2', { text: title }), h('p', { text, dir: 'auto' }), remaining),
      actions.length
        ? h('div', { class: 'problem-actions' }, ...actions.map(({ label, command }) => h('button', { type: 'button', text: label, onclick: () => commands[command]() })))
        : null)
  }

  #count() {
    for (const { element, until } of this.#countdowns) {
      const seconds = Math.ceil((until - Date.now()) / 1000)
      setText(element, seconds > 0 ? texts.countdown.kept(seconds) : texts.countdown.over)
    }
  }
}

customElements.define('problem-list', ProblemList)

// What is wrong and what to do next. One list above everything, and one beside each form: with `keys`, a list shows only those problems.

import { announce } from '../../shared/announce.js'
import { problemCard, replaceCards } from '../../shared/problem-card.js'
import { reload } from '../model/commands.js'
import { describe } from '../model/problems.js'
import { View } from './view.js'

// Problems that are shown beside a form.
const PLACED = ['settings', 'password', 'export', 'confirm', 'address', 'reset', 'login', 'consent']

const actions = {
  connection: { label: 'Try now', run: reload },
  call: { label: 'Open the page of calls', run: () => location.assign('/calls') },
}

class ProblemList extends View {
  #shown = []

  update({ problems }) {
    const keys = this.getAttribute('keys')?.split(' ')
    const mine = problems.filter(({ key }) => (keys ? keys.includes(key) : !PLACED.includes(key)))
    this.hidden = mine.length === 0
    if (mine.length === this.#shown.length && mine.every((problem, index) => same(problem, this.#shown[index]))) return
    for (const problem of mine) {
      if (this.#shown.some((known) => same(known, problem))) continue
      const { severity, title, text } = describe(problem)
      announce(`${title}. ${text}`, { isError: severity === 'error' })
    }
    this.#shown = mine
    replaceCards(this, mine.map((problem) => {
      const action = actions[problem.key]
      return problemCard({ ...describe(problem), actions: action ? [action] : [] })
    }))
  }
}

/** A repeated attempt that fails again is news, except for those that the page makes by itself. */
function same(one, other) {
  return one.key === other.key && one.code === other.code && (one.since === other.since || one.key === 'connection')
}

customElements.define('problem-list', ProblemList)

// What is wrong and what to do next. With `keys`, a list shows only those problems; the one above everything shows the others.

import { announce } from '../../shared/announce.js'
import { problemCard, replaceCards } from '../../shared/problem-card.js'
import { watch } from '../model/commands.js'
import { describe } from '../model/problems.js'
import { View } from './view.js'

const PLACED = ['access', 'room']

class ProblemList extends View {
  #shown = []

  update({ problems }) {
    const keys = this.getAttribute('keys')?.split(' ')
    const mine = problems.filter(({ key }) => (keys ? keys.includes(key) : !PLACED.includes(key)))
    this.hidden = mine.length === 0
    if (mine.length === this.#shown.length && mine.every((problem, index) => problem === this.#shown[index])) return
    for (const problem of mine) {
      if (this.#shown.includes(problem)) continue
      const { severity, title, text } = describe(problem)
      announce(`${title}. ${text}`, { isError: severity === 'error' })
    }
    this.#shown = mine
    replaceCards(this, mine.map((problem) => {
      const actions = problem.key === 'gateway' ? [{ label: 'Try now', run: watch }] : []
      return problemCard({ ...describe(problem), actions })
    }))
  }
}

customElements.define('problem-list', ProblemList)

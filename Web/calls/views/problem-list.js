// Problems and endings of calls, with actions. With `keys`, shows only those problems, beside a form.

import { announce } from '../../shared/announce.js'
import { problemCard, replaceCards } from '../../shared/problem-card.js'
import { openChannel, reload } from '../model/commands.js'
import { phone } from '../model/phone.js'
import { describe } from '../model/problems.js'
import { store } from '../model/store.js'
import { View } from './view.js'

// Problems shown beside a form.
const PLACED = ['login', 'consent', 'dial', 'invite', 'contacts']
// News that the user can dismiss.
const NEWS = ['ended', 'missed', 'call']

const actions = {
  reload: () => ({ label: 'Try now', run: reload }),
  channel: () => ({ label: 'Connect again', run: openChannel }),
  rejoin: () => ({ label: 'Join again', run: () => phone.takeOver(store.state.shown) }),
  microphone: () => ({ label: 'Try again', run: () => phone.enableMicrophone() }),
  audio: () => ({ label: 'Play sound', run: () => phone.startAudio() }),
  call: ({ parties }) => ({ label: 'Call again', run: () => phone.call(parties) }),
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
    replaceCards(this, mine.map((problem) => this.#card(problem)))
  }

  #card(problem) {
    const { action, ...description } = describe(problem)
    const close = { label: 'Close', run: () => store.dispatch('problem.remove', { key: problem.key }) }
    const buttons = [action && (action !== 'call' || problem.parties?.length) ? actions[action](problem) : null, NEWS.includes(problem.key) ? close : null]
    return problemCard({ ...description, actions: buttons.filter((button) => button !== null) })
  }
}

/** Whether a problem is unchanged. A repeated attempt that fails again is news, unless the page made it by itself. */
function same(one, other) {
  return one.key === other.key && one.code === other.code && (one.since === other.since || one.key === 'connection' || one.key === 'channel')
}

customElements.define('problem-list', ProblemList)

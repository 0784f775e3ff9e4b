// The assistant's response times in the latest turns, by stage, and their trend.

import { texts } from '../model/language.js'
import { knownStages, trendOf } from '../model/turns.js'
import { View, h, setText } from './view.js'

const SHOWN = 8

const t = texts.turns
const labels = { endOfTurn: t.endOfTurn, recognition: t.recognition, firstToken: t.firstToken, firstAudio: t.firstAudio, voiceToVoice: t.total }

class TurnPanel extends View {
  #empty = h('p', { class: 'hint', text: t.empty })
  #trend = h('p', { class: 'trend' })
  #table = h('table', { class: 'turns' })
  // The table may be wider than a phone.
  #scroller = h('div', { class: 'turns-scroller', role: 'region', 'aria-label': t.name, tabindex: 0 }, this.#table)
  #hint = h('p', { class: 'hint', text: t.hint })
  #shown = null

  build() {
    this.append(this.#empty, this.#trend, this.#scroller, this.#hint)
  }

  update({ turns }) {
    if (turns === this.#shown) return
    this.#shown = turns
    this.#empty.hidden = turns.length > 0
    this.#scroller.hidden = this.#hint.hidden = turns.length === 0
    const trend = trendOf(turns)
    this.#trend.hidden = trend === null
    if (trend) setText(this.#trend, t.trend[trend.kind](`${Math.round(trend.average)}\u00a0ms`, trend.percent))
    const latest = turns.slice(-SHOWN).reverse()
    const stages = knownStages(latest)
    this.#table.replaceChildren(
      h('thead', {}, h('tr', {}, h('th', { scope: 'col', text: t.turn }), ...stages.map((stage) => h('th', { scope: 'col', text: labels[stage] })))),
      h('tbody', {}, ...latest.map((turn) => h('tr', {},
        h('th', { scope: 'row', text: turn.interrupted ? t.interrupted(String(turn.turn)) : String(turn.turn) }),
        ...stages.map((stage) => h('td', { text: typeof turn[stage] === 'number' ? String(Math.round(turn[stage])) : '–' }))))))
  }
}

customElements.define('turn-panel', TurnPanel)

// A level meter with a label for the loudness.

import { texts } from '../model/language.js'
import { loudness } from '../model/levels.js'
import { h, setText } from './view.js'

const FLOOR_DB = -60

export class LevelMeter {
  #bar = h('div')
  element = h('div', { class: 'meter', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.#bar)
  /** The label beside the bar. */
  word = h('span', { class: 'wave-level', 'aria-hidden': 'true' })

  constructor() {
    this.show(null)
  }

  /** `level` in dBov; null without a measurement. */
  show(level) {
    const share = Math.max(0, 1 - Math.max(FLOOR_DB, level ?? FLOOR_DB) / FLOOR_DB)
    const word = texts.levels[loudness(level ?? FLOOR_DB)]
    setText(this.word, level === null ? '' : word)
    this.#bar.style.transform = `scaleX(${share})`
    this.element.setAttribute('aria-valuenow', String(Math.round(100 * share)))
    this.element.setAttribute('aria-valuetext', word)
  }
}

// The conversation as text: words appear as they are heard; what was never heard is struck through.

import { TranscriptRows } from '../../shared/transcript-rows.js'
import { texts } from '../model/language.js'
import { View, h, setText } from './view.js'

const t = texts.transcript
const speakers = { user: texts.you, assistant: texts.assistant, typed: t.typed, message: t.message, note: '' }

class TranscriptView extends View {
  #list = h('ol', { class: 'lines', 'aria-label': t.name, tabindex: 0 })
  #removed = h('p', { class: 'hint' })
  #empty = h('p', { class: 'empty', text: t.empty })
  #rows = new TranscriptRows(this.#list)
  #isScheduled = false
  #pending = null

  build() {
    this.append(this.#removed, this.#empty, this.#list)
  }

  update({ transcript }, previous) {
    if (previous && transcript === this.#pending) return
    this.#pending = transcript
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Once per displayed frame, however many revisions arrive. Hidden pages have no frames.
    const schedule = document.hidden ? (render) => setTimeout(render, 250) : requestAnimationFrame
    schedule(() => {
      this.#isScheduled = false
      this.#render(this.#pending)
    })
  }

  #render({ lines, removed }) {
    if (!this.#rows.update(lines, ({ kind, name }) => ({ kind, speaker: name || speakers[kind], unheard: t.unheard }))) return
    this.#empty.hidden = !this.#rows.isEmpty
    this.#removed.hidden = removed === 0
    setText(this.#removed, t.removed(removed))
    this.#rows.follow()
  }
}

customElements.define('transcript-view', TranscriptView)

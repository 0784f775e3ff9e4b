// The conversation as text: words appear as they are heard; what was never heard is struck through.

import { parts } from '../../shared/transcript.js'
import { View, h, setText } from './view.js'

// Closer to the end than this, the view follows new lines.
const FOLLOW_PX = 60

const speakers = { user: 'You', assistant: 'Assistant', typed: 'You typed', message: 'Message', note: '' }

class TranscriptView extends View {
  #list = h('ol', { class: 'lines', 'aria-label': 'Transcript', tabindex: 0 })
  #removed = h('p', { class: 'hint' })
  #empty = h('p', { class: 'empty', text: 'What is said appears here.' })
  // By line id: the elements of a line.
  #rows = new Map()
  #isScheduled = false
  #lines = null
  #pending = null
  #isFollowing = true

  build() {
    this.append(this.#removed, this.#empty, this.#list)
    this.#list.addEventListener('scroll', () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#list
      this.#isFollowing = scrollHeight - scrollTop - clientHeight < FOLLOW_PX
    })
    // A rotated phone, an on-screen keyboard or a problem changes the height; the end stays visible.
    new ResizeObserver(() => this.#follow()).observe(this.#list)
  }

  #follow() {
    if (this.#isFollowing) this.#list.scrollTop = this.#list.scrollHeight
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
    if (lines === this.#lines) return
    const list = this.#list
    const ids = new Set(lines.map(({ id }) => id))
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue
      row.element.remove()
      this.#rows.delete(id)
    }
    for (const line of lines) {
      let row = this.#rows.get(line.id)
      if (!row) {
        row = createRow()
        this.#rows.set(line.id, row)
        list.append(row.element)
      }
      if (row.line !== line) showLine(row, line)
    }
    this.#lines = lines
    this.#empty.hidden = lines.length > 0
    list.hidden = lines.length === 0
    this.#removed.hidden = removed === 0
    setText(this.#removed, `${removed} older ${removed === 1 ? 'line was' : 'lines were'} removed to keep this page fast.`)
    this.#follow()
  }
}

function createRow() {
  const row = {
    speaker: h('span', { class: 'speaker', dir: 'auto' }), heard: h('span'), now: h('mark'), next: h('span', { class: 'next' }),
    never: h('s'), note: h('span', { class: 'visually-hidden', text: ' (not heard) ' }), line: null,
  }
  row.text = h('p', { dir: 'auto' }, row.heard, row.now, row.next, row.note, row.never)
  row.element = h('li', {}, row.speaker, row.text)
  return row
}

function showLine(row, line) {
  row.line = line
  row.element.dataset.kind = line.kind
  row.element.toggleAttribute('data-partial', line.isFinal === false)
  setText(row.speaker, line.name || speakers[line.kind])
  if (line.language) row.text.lang = line.language
  const shown = parts(line)
  for (const name of ['heard', 'now', 'next', 'never']) {
    setText(row[name], shown[name])
    row[name].hidden = shown[name] === ''
  }
  row.note.hidden = shown.never === ''
}

customElements.define('transcript-view', TranscriptView)

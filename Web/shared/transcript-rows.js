// The list of a transcript's lines. Rows are updated in place; what was never heard is struck through.

import { h, setText } from './elements.js'
import { parts } from './transcript-lines.js'

// Closer to the end than this, the list follows new lines; as close to the beginning, it shows earlier ones.
const EDGE_PX = 60
// How many of the latest lines are shown, and how many more at a time. In Chromium, a shown line takes about 45 KB.
const PAGE = 50

export class TranscriptRows {
  #list
  // By line id, of the lines that are shown.
  #rows = new Map()
  // As given to `update`, and those of them that have a text.
  #given = []
  #lines = []
  #describe = null
  #language = ''
  #isFollowing = true

  /** `list` is an `ol` that scrolls. */
  constructor(list) {
    this.#list = list
    list.addEventListener('scroll', () => {
      this.#isFollowing = list.scrollHeight - list.scrollTop - list.clientHeight < EDGE_PX
      if (!this.#isFollowing && list.scrollTop < EDGE_PX) this.#showEarlier()
    })
    // A rotated phone, an on-screen keyboard or a problem changes the height; the end stays visible.
    new ResizeObserver(() => this.follow()).observe(list)
  }

  /** Whether no line has a text. */
  get isEmpty() {
    return this.#lines.length === 0
  }

  /** Shows the end, unless the user has scrolled away from it. */
  follow() {
    if (this.#isFollowing) this.#list.scrollTop = this.#list.scrollHeight
  }

  /**
   * Shows the latest lines, and those before them once the user scrolls to the beginning. `describe(line)` returns
   * `{kind, speaker, unheard?}`: for styles, and to be read; `language` is that of its answers. Returns whether something changed.
   */
  update(lines, describe, language = '') {
    const isSameLanguage = language === this.#language
    if (lines === this.#given && isSameLanguage) return false
    this.#given = lines
    this.#lines = lines.filter(hasText)
    this.#describe = describe
    this.#language = language
    this.#show(this.#first(), !isSameLanguage)
    this.#list.hidden = this.isEmpty
    return true
  }

  /** The index of the first line to show: what the user reads stays. */
  #first() {
    const latest = Math.max(0, this.#lines.length - PAGE)
    const shown = this.#isFollowing ? -1 : this.#lines.findIndex(({ id }) => this.#rows.has(id))
    return shown < 0 ? latest : Math.min(latest, shown)
  }

  #showEarlier() {
    const first = this.#first()
    if (first === 0) return
    const toEnd = this.#list.scrollHeight - this.#list.scrollTop
    this.#show(Math.max(0, first - PAGE))
    this.#list.scrollTop = this.#list.scrollHeight - toEnd
  }

  #show(first, isDescribedAnew = false) {
    const lines = this.#lines.slice(first)
    const ids = new Set(lines.map(({ id }) => id))
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue
      row.element.remove()
      this.#rows.delete(id)
    }
    let next = null
    for (const line of lines.reverse()) {
      let row = this.#rows.get(line.id)
      if (!row) {
        row = createRow()
        this.#rows.set(line.id, row)
        this.#list.insertBefore(row.element, next)
      }
      if (row.line !== line || isDescribedAnew) showLine(row, line, this.#describe(line))
      next = row.element
    }
  }
}

// Speech recognition and assistants send revisions that consist of white space.
const hasText = ({ text }) => text.trim() !== ''

function createRow() {
  const row = {
    speaker: h('span', { class: 'speaker', dir: 'auto' }), heard: h('span'), now: h('mark'), next: h('span', { class: 'next' }), never: h('s'),
    note: h('span', { class: 'visually-hidden' }), line: null,
  }
  row.text = h('p', { dir: 'auto' }, row.heard, row.now, row.next, row.note, row.never)
  row.element = h('li', { part: 'line' }, row.speaker, row.text)
  return row
}

function showLine(row, line, { kind, speaker, unheard = '(not heard)' }) {
  row.line = line
  row.element.dataset.kind = kind
  row.element.toggleAttribute('data-partial', line.isFinal === false)
  setText(row.speaker, speaker)
  if (line.language) row.text.lang = line.language
  const shown = parts(line)
  for (const name of ['heard', 'now', 'next', 'never']) {
    setText(row[name], shown[name])
    row[name].hidden = shown[name] === ''
  }
  setText(row.note, ` ${unheard} `)
  row.note.hidden = shown.never === ''
}

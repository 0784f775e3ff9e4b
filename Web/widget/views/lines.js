// The conversation as text: the current line, whose words appear as they are heard, and the whole transcript.

import { h, setText } from '../../shared/elements.js'
import { parts } from '../../shared/transcript.js'
import { currentLine } from '../model/conversation.js'
import { nameOf } from '../model/texts.js'

// Closer to the end than this, the transcript follows new lines.
const FOLLOW_PX = 60
// Longer texts are shown smaller.
const LONG_TEXT = 110

/** What the assistant says now, or what the user just said. Not announced: it is heard, and the transcript has it as a log. */
export class Caption {
  #speaker = h('p', { class: 'caption-speaker', dir: 'auto' })
  #text = h('p', { class: 'caption-text', dir: 'auto' })
  element = h('div', { class: 'caption', part: 'caption' }, this.#speaker, this.#text)
  #words = []
  #shown = null

  update(state) {
    const line = currentLine(state.call)
    this.element.hidden = !line
    if (!line) {
      this.#shown = null
      return
    }
    const isOwn = line.kind === 'user' || line.kind === 'typed'
    setText(this.#speaker, isOwn ? 'You' : line.name || nameOf(state))
    this.element.dataset.kind = isOwn ? 'user' : 'assistant'
    if (line.language) this.#text.lang = line.language
    if (this.#shown !== line.text) this.#build(line.text)
    const { heard, now } = parts(line)
    const end = heard.length + now.length
    let last = null
    for (const word of this.#words) {
      const isHeard = word.start < end
      word.element.toggleAttribute('data-heard', isHeard)
      if (isHeard) last = word.element
    }
    if (last) this.#reveal(last)
  }

  #build(text) {
    this.#shown = text
    this.#words = [...text.matchAll(/\S+\s*/gu)].map((match) => ({ start: match.index, element: h('span', { class: 'word', text: match[0] }) }))
    this.#text.replaceChildren(...this.#words.map(({ element }) => element))
    this.element.toggleAttribute('data-long', text.length > LONG_TEXT)
    this.element.scrollTop = 0
  }

  /** Scrolls the caption alone, never the page. */
  #reveal(word) {
    const hidden = word.offsetTop + word.offsetHeight - this.element.clientHeight
    if (hidden > this.element.scrollTop) this.element.scrollTop = hidden
  }
}

/** All lines. What was never heard is struck through. */
export class TranscriptList {
  #list = h('ol', { class: 'lines', role: 'log', 'aria-label': 'Transcript', tabindex: 0 })
  #empty = h('p', { class: 'empty', text: 'What is said appears here. You can also type.' })
  element = h('div', { class: 'transcript', part: 'transcript' }, this.#empty, this.#list)
  // By line id.
  #rows = new Map()
  #lines = null
  #isFollowing = true

  constructor() {
    this.#list.addEventListener('scroll', () => {
      const { scrollHeight, scrollTop, clientHeight } = this.#list
      this.#isFollowing = scrollHeight - scrollTop - clientHeight < FOLLOW_PX
    })
    new ResizeObserver(() => this.#follow()).observe(this.#list)
  }

  update(state) {
    const { lines } = state.call.transcript
    // A screen reader would talk over the assistant; without a microphone it is the way to follow the conversation.
    this.#list.setAttribute('aria-live', state.call.isTyping ? 'polite' : 'off')
    if (lines === this.#lines) return
    this.#lines = lines
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
        this.#list.append(row.element)
      }
      if (row.line !== line) showLine(row, line, nameOf(state))
    }
    this.#empty.hidden = lines.length > 0
    this.#list.hidden = lines.length === 0
    this.#follow()
  }

  #follow() {
    if (this.#isFollowing) this.#list.scrollTop = this.#list.scrollHeight
  }
}

function createRow() {
  const row = {
    speaker: h('span', { class: 'speaker', dir: 'auto' }), heard: h('span'), now: h('mark'), next: h('span', { class: 'next' }), never: h('s'),
    note: h('span', { class: 'visually-hidden', text: ' (not heard) ' }), line: null,
  }
  row.text = h('p', { dir: 'auto' }, row.heard, row.now, row.next, row.note, row.never)
  row.element = h('li', { part: 'line' }, row.speaker, row.text)
  return row
}

function showLine(row, line, assistantName) {
  row.line = line
  const isOwn = line.kind === 'user' || line.kind === 'typed'
  row.element.dataset.kind = isOwn ? 'user' : line.kind
  row.element.toggleAttribute('data-partial', line.isFinal === false)
  setText(row.speaker, isOwn ? 'You' : line.kind === 'note' ? 'Chosen' : line.name || assistantName)
  if (line.language) row.text.lang = line.language
  const shown = parts(line)
  for (const name of ['heard', 'now', 'next', 'never']) {
    setText(row[name], shown[name])
    row[name].hidden = shown[name] === ''
  }
  row.note.hidden = shown.never === ''
}

// The conversation as text: the current line, whose words appear as they are heard, and the whole transcript.

import { h, setAttributes, setText } from '../../shared/elements.js'
import { TranscriptRows } from '../../shared/transcript-rows.js'
import { parts } from '../../shared/transcript-lines.js'
import { currentLine } from '../model/conversation.js'
import { languageOf, nameOf, textsOf } from '../model/texts.js'

// Longer texts are shown smaller.
const LONG_TEXT = 110

/** Returns the words of a text as `{start, text}`, each with the spaces after it. */
export const wordsOf = (text) => [...text.matchAll(/\S+\s*/gu)].map(({ index, 0: word }) => ({ start: index, text: word }))

/** The number of words at the beginning of `words` that the revision has at the same positions. */
export function countKept(words, revision) {
  const first = words.findIndex(({ start, text }, index) => start !== revision[index]?.start || text.trimEnd() !== revision[index].text.trimEnd())
  return first < 0 ? words.length : first
}

/** What the assistant says now, or what the user just said. Not announced: it is heard, and the transcript has it as a log. */
export class Caption {
  #speaker = h('p', { class: 'caption-speaker', dir: 'auto' })
  #text = h('p', { class: 'caption-text', dir: 'auto' })
  element = h('div', { class: 'caption', part: 'caption' }, this.#speaker, this.#text)
  #words = []
  #shown = { id: null, text: '' }

  update(state) {
    const line = currentLine(state.call)
    this.element.hidden = !line
    if (!line) {
      this.#shown = { id: null, text: '' }
      return
    }
    const isOwn = line.kind === 'user' || line.kind === 'typed'
    setText(this.#speaker, isOwn ? textsOf(state).you : line.name || nameOf(state))
    this.element.dataset.kind = isOwn ? 'user' : 'assistant'
    if (this.#shown.id !== line.id || this.#shown.text !== line.text) this.#build(line)
    setAttributes(this.#text, { lang: line.language })
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

  #build({ id, text }) {
    const isRevision = this.#shown.id === id
    // A new line is a new element, which appears as such.
    if (!isRevision) {
      const text = h('p', { class: 'caption-text', dir: 'auto' })
      this.#text.replaceWith(text)
      this.#text = text
    }
    this.#shown = { id, text }
    const words = wordsOf(text)
    // Words that a revision keeps stay the same elements: new ones would be revealed again.
    const kept = isRevision ? countKept(this.#words, words) : 0
    this.#words = words.map((word, index) => {
      const element = index < kept ? this.#words[index].element : h('span', { class: 'word' })
      setText(element, word.text)
      return { ...word, element }
    })
    while (this.#text.childElementCount > kept) this.#text.lastElementChild.remove()
    this.#text.append(...this.#words.slice(kept).map(({ element }) => element))
    this.element.toggleAttribute('data-long', text.length > LONG_TEXT)
    if (!isRevision) this.element.scrollTop = 0
  }

  /** Scrolls the caption alone, never the page. */
  #reveal(word) {
    const hidden = word.offsetTop + word.offsetHeight - this.element.clientHeight
    if (hidden > this.element.scrollTop) this.element.scrollTop = hidden
  }
}

/** All lines. What was never heard is struck through. */
export class TranscriptList {
  #list = h('ol', { class: 'lines', tabindex: 0 })
  #empty = h('p', { class: 'empty' })
  element = h('div', { class: 'transcript', part: 'transcript', role: 'log' }, this.#empty, this.#list)
  #rows = new TranscriptRows(this.#list)

  update(state) {
    const { lines } = state.call.transcript
    const { you, transcript } = textsOf(state)
    setText(this.#empty, transcript.empty)
    setAttributes(this.#list, { 'aria-label': transcript.name })
    // A screen reader would talk over the assistant; without a microphone it is the way to follow the conversation.
    this.element.setAttribute('aria-live', state.call.isTyping ? 'polite' : 'off')
    const isChanged = this.#rows.update(lines, ({ kind, name }) => {
      if (kind === 'user' || kind === 'typed') return { kind: 'user', speaker: you }
      return { kind, speaker: kind === 'note' ? transcript.chosen : name || nameOf(state), unheard: transcript.unheard }
    }, languageOf(state))
    if (!isChanged) return
    this.#empty.hidden = !this.#rows.isEmpty
    this.#rows.follow()
  }
}

// Every control message as received, and what the page itself noted; newest first, with a filter. Rows stay where they are while one of
// them has the focus: it would move out of sight within seconds.

import { announce } from '../../shared/announce.js'
import { texts } from '../model/language.js'
import { store } from '../model/store.js'
import { View, field, h, setText } from './view.js'

// The state keeps more; the filter searches all of them.
const MAX_ROWS = 100
const MAX_SUMMARY = 160
const RENDER_INTERVAL_MS = 200
const TYPING_PAUSE_MS = 1000

const t = texts.events

class EventLog extends View {
  #filter = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: 'playout -speakers', oninput: () => this.#filtered() })
  #count = h('p', { class: 'hint' })
  #list = h('ol', { class: 'log', 'aria-label': t.name, onfocusin: () => this.#schedule(), onfocusout: () => this.#schedule() })
  #rows = new Map()
  // The latest entry of the last time that rows were changed.
  #latest = 0
  #timer = 0
  #announcement = 0
  #log = null

  build() {
    const clear = h('button', { type: 'button', class: 'small', text: t.clear, onclick: () => store.dispatch('log.clear') })
    this.append(field(t.filter, this.#filter, h('p', { text: t.filterHint })),
      h('div', { class: 'row spread' }, this.#count, clear), this.#list)
  }

  update({ log }) {
    if (log === this.#log) return
    this.#log = log
    this.#schedule()
  }

  // The number changes all the time; a screen reader hears it after a change of the filter.
  #filtered() {
    this.#schedule()
    clearTimeout(this.#announcement)
    this.#announcement = setTimeout(() => announce(this.#count.textContent), TYPING_PAUSE_MS)
  }

  #schedule() {
    if (this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = 0
      this.#render()
    }, RENDER_INTERVAL_MS)
  }

  #render() {
    const { entries, removed } = this.#log
    const matches = compile(this.#filter.value)
    const matching = entries.filter(matches)
    if (this.#list.contains(document.activeElement)) {
      const waiting = matching.filter(({ id }) => id > this.#latest).length
      setText(this.#count, t.paused(waiting))
      return
    }
    this.#latest = entries.at(-1)?.id ?? this.#latest
    const shown = matching.slice(-MAX_ROWS).reverse()
    const ids = new Set(shown.map(({ id }) => id))
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue
      row.remove()
      this.#rows.delete(id)
    }
    let before = this.#list.firstChild
    for (const entry of shown) {
      let row = this.#rows.get(entry.id)
      if (!row) this.#rows.set(entry.id, (row = createRow(entry)))
      if (row === before) before = before.nextSibling
      else this.#list.insertBefore(row, before)
    }
    const hidden = matching.length - shown.length
    setText(this.#count, [
      matching.length === entries.length ? t.all(entries.length) : t.some(matching.length, entries.length),
      hidden > 0 && t.older(hidden), removed > 0 && t.removed(removed),
    ].filter(Boolean).join(', '))
  }
}

function compile(filter) {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word && word !== '-')
  if (!words.length) return () => true
  return (entry) => {
    const text = `${entry.name} ${summary(entry)}`.toLowerCase()
    return words.every((word) => (word.startsWith('-') ? !text.includes(word.slice(1)) : text.includes(word)))
  }
}

// Made once for an entry: filtering while typing reads all of them.
const summaries = new WeakMap()
function summary(entry) {
  let text = summaries.get(entry)
  if (text === undefined) summaries.set(entry, (text = JSON.stringify(entry.data ?? {}).slice(0, 2000)))
  return text
}

function createRow(entry) {
  const { source, name, at, data } = entry
  const details = h('details', {},
    h('summary', {},
      h('time', { text: new Date(at).toLocaleTimeString([], { hour12: false }), datetime: new Date(at).toISOString() }),
      h('span', { class: 'log-name', 'data-source': source, text: name }),
      h('span', { class: 'log-data', dir: 'auto', text: summary(entry).slice(0, MAX_SUMMARY) })))
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 1) return
    details.append(h('pre', { tabindex: 0, 'aria-label': t.data(name), role: 'region', text: JSON.stringify(data ?? {}, null, 2) }))
  })
  return h('li', {}, details)
}

customElements.define('event-log', EventLog)

// The log of a room, newest first.

import { View, h, setText } from './view.js'

class RoomEvents extends View {
  #list = h('ol', { class: 'events', tabindex: 0, 'aria-label': 'Log, newest first' })
  #status = h('p', { class: 'hint' })
  #log = null

  build() {
    this.append(h('h3', { text: 'Log' }), this.#status, this.#list)
  }

  update({ room }) {
    const { log, detail } = room
    this.hidden = detail === null
    if (log === this.#log) return
    this.#log = log
    const events = log?.events ?? []
    setText(this.#status, log ? (log.removed > 0 ? `The last ${events.length} events; ${log.removed} earlier ones are no longer kept.` : events.length ? 'Without what was said or written.' : 'Nothing has happened yet.')
      : 'This gateway keeps no logs of rooms. Update it to see what happened.')
    this.#list.hidden = events.length === 0
    const keys = events.map(keyOf)
    const known = [...this.#list.children]
    // Usually nothing is new. Otherwise the new rows are put above the others.
    const first = known[0]?.dataset.key
    const from = first === undefined ? 0 : keys.lastIndexOf(first) + 1
    if (from === 0) this.#list.replaceChildren()
    this.#list.prepend(...events.slice(from).map((event, index) => createRow(event, keys[from + index])).reverse())
    while (this.#list.childElementCount > events.length) this.#list.lastElementChild.remove()
  }
}

const keyOf = ({ at, type, participant, track }) => JSON.stringify([at, type, participant, track])

function createRow({ at, type, participant, kind, track, source, reason }, key) {
  const details = [participant, kind && kind !== 'standard' && kind, source, track, reason].filter(Boolean).join(' · ')
  return h('li', { 'data-key': key },
    h('time', { datetime: new Date(at).toISOString(), text: new Date(at).toLocaleTimeString([], { hour12: false }) }),
    h('strong', { text: type }), h('span', { class: 'event-text', dir: 'auto', text: details, title: details }))
}

customElements.define('room-events', RoomEvents)

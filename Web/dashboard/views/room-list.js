// The open rooms, those where somebody talks first.

import { command } from '../../shared/problem-card.js'
import { addressOf, isAddressable } from '../model/addresses.js'
import { seconds } from '../model/figures.js'
import { kindOf, visibleRooms } from '../model/state.js'
import { store } from '../model/store.js'
import { HeldRows } from './held-rows.js'
import { View, field, h, keepFocus, setText } from './view.js'

// A browser lays out no more rows than anybody reads.
const MAX_ROWS = 100
const kinds = { call: 'Call', session: 'Session', room: 'Room' }

class RoomList extends View {
  #title = h('h2', { tabindex: -1, text: 'Rooms' })
  #status = h('p', { class: 'hint' })
  #filter = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: 'call- or a part of the name', oninput: () => store.dispatch('filter', { filter: this.#filter.value }) })
  #filterField = field('Filter', this.#filter)
  #list = h('ol', { class: 'rooms' })
  #empty = h('div', { class: 'empty' })
  #reason = null
  #rows = new HeldRows(this.#list, { limit: MAX_ROWS, create: ({ name }) => createRow(name), fill: fillRow, removesGone: true })

  build() {
    this.append(h('div', {}, this.#title, this.#status), this.#filterField, this.#list, this.#empty)
  }

  update(state, previous) {
    const { access, rooms, filter, room } = state
    this.hidden = access === 'none' || access === 'unknown' || room.name !== null
    if (!previous || rooms !== previous.rooms || filter !== previous.filter) keepFocus(this, () => this.#show(state), () => this.#title)
    // The form that gave access disappears with the focus in it.
    if (!this.hidden && previous?.access === 'none') this.#title.focus()
    else if (!this.hidden && previous?.room.name) (this.#rows.get(previous.room.name)?.link ?? this.#title).focus()
  }

  #show(state) {
    const { rooms, filter } = state
    const matching = visibleRooms(state)
    const shown = matching.slice(0, MAX_ROWS)
    const calls = rooms.items.filter(({ name }) => kindOf(name) === 'call').length
    setText(this.#status, rooms.state === 'ready'
      ? [`${rooms.items.length} open`, calls > 0 && `${calls} ${calls === 1 ? 'call' : 'calls'}`, filter && `${matching.length} match`, matching.length > MAX_ROWS && `the first ${MAX_ROWS} are shown`].filter(Boolean).join(', ')
      : rooms.state === 'loading' ? 'Loading…' : '')
    this.#filterField.hidden = rooms.items.length < 8 && filter === ''
    this.#rows.show(new Map(shown.map((room) => [room.name, room])))
    this.#list.hidden = this.#list.childElementCount === 0
    this.#empty.hidden = rooms.state === 'loading' || shown.length > 0
    const reason = rooms.state === 'locked' ? 'locked' : filter && rooms.items.length ? 'filtered' : 'none'
    // Only when it changes: the focus may be in it.
    if (this.#empty.hidden || reason === this.#reason) return
    this.#reason = reason
    this.#empty.replaceChildren(...explain(reason))
  }
}

/** Why no rooms are shown. */
function explain(reason) {
  if (reason === 'locked') {
    return [h('h3', { text: 'This token does not list rooms' }), h('p', {}, 'Forget it, and paste one with roomList: ', command('patchbay token --list'))]
  }
  if (reason === 'filtered') return [h('p', { text: 'No room has this name. Change the filter.' })]
  return [h('h3', { text: 'No rooms are open' }), h('p', { text: 'A room opens with its first participant, and appears here.' }), h('a', { class: 'button', href: '/', text: 'Make a call in the playground' })]
}

function createRow(name) {
  const row = { name: h('span', { class: 'room-name', dir: 'auto', text: name }), facts: h('span', { class: 'hint' }), talking: h('span', { class: 'pill', 'data-tone': 'busy' }) }
  row.link = h('a', isAddressable(name) ? { href: addressOf(name) } : { 'aria-disabled': 'true' }, row.name, h('span', { class: 'row spread' }, row.facts, row.talking))
  row.element = h('li', {}, row.link)
  return row
}

const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`

function fillRow(row, { name, num_participants, num_tracks, num_speakers = 0, created_at }) {
  setText(row.facts, [
    kinds[kindOf(name)], counted(num_participants, 'participant', 'participants'), counted(num_tracks, 'track', 'tracks'), seconds(Date.now() / 1000 - created_at),
    !isAddressable(name) && 'its name cannot be part of an address',
  ].filter(Boolean).join(' · '))
  row.talking.hidden = num_speakers === 0
  setText(row.talking, num_speakers === 1 ? 'Talking' : `${num_speakers} talking`)
}

customElements.define('room-list', RoomList)

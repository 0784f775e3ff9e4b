// The overview for an incident: the worst participants, workers, slow assistants, errors, and ended rooms and sessions.

import { command } from '../../shared/problem-card.js'
import { otherCoordinator } from '../model/nodes.js'
import { assistantRows, endedRows, errorRows, participantRows, workerRows } from '../model/operations.js'
import { HeldRows } from './held-rows.js'
import { View, h, panel, setAttributes, setText } from './view.js'

const MAX_ROWS = 100
const time = (at) => new Date(at).toLocaleTimeString([], { hour12: false })

const cell = (properties = {}) => h('td', properties)
const pill = () => h('span', { class: 'pill' })

function setPill(element, tone, state) {
  element.dataset.tone = tone
  setText(element, state)
}

/** The tables. The first cell of each row is its header. */
const tables = {
  participants: {
    title: 'Participants, worst first', empty: 'Nobody is in a room.', isOpen: true, columns: ['Participant', 'Connection', 'Round trip', 'Loss'], rows: participantRows,
    summary: ({ participants, participants_total: total }) => (total > participants.length ? `The worst ${participants.length} of ${total}.` : total ? `${total} in rooms.` : ''),
    create() {
      const row = { name: h('strong', { dir: 'auto' }), room: h('a', { dir: 'auto' }), kind: h('span', { class: 'hint' }), state: pill(), rtt: cell(), loss: cell() }
      row.element = h('tr', {}, h('th', { scope: 'row' }, row.name, ' ', row.kind, h('span', { class: 'row-detail' }, row.room)), h('td', {}, row.state), row.rtt, row.loss)
      return row
    },
    fill(row, { identity, room, href, kind, rtt, loss, tone, state }) {
      setText(row.name, identity)
      setText(row.kind, kind)
      setText(row.room, room)
      setAttributes(row.room, { href: href ?? '' })
      setPill(row.state, tone, state)
      setText(row.rtt, rtt)
      setText(row.loss, loss)
    },
  },
  workers: {
    title: 'Workers', empty: 'No worker is connected.', isOpen: true, columns: ['Assistant', 'State', 'Load', 'Jobs'], rows: workerRows,
    summary: ({ workers, workers_total: total }) => (total > workers.length ? `The busiest ${workers.length} of ${total}.` : total ? `${total} connected.` : ''),
    create() {
      const row = { name: h('strong', { dir: 'auto' }), id: h('span', { class: 'row-detail hint' }), state: pill(), load: h('meter', { min: 0, max: 1, low: 0.6, high: 0.9, optimum: 0 }), number: h('span'), jobs: cell() }
      row.element = h('tr', {}, h('th', { scope: 'row' }, row.name, row.id), h('td', {}, row.state), h('td', {}, row.load, ' ', row.number), row.jobs)
      return row
    },
    fill(row, { assistant, id, load, jobs, tone, state }) {
      setText(row.name, assistant)
      setText(row.id, id)
      setPill(row.state, tone, state)
      row.load.hidden = load === null
      row.load.value = load ?? 0
      row.load.ariaLabel = `Load of ${assistant}`
      setText(row.number, load === null ? '–' : `${Math.round(load * 100)} %`)
      setText(row.jobs, jobs)
    },
  },
  assistants: {
    title: 'Assistants’ turns, slowest first', empty: 'No assistant has answered yet.', columns: ['Assistant', 'Median', '95 of 100', 'Turns'], rows: assistantRows,
    summary: ({ assistants }) => (assistants.length ? 'From the end of what the user said to the first sound; the last 200 turns of each.' : ''),
    create() {
      const row = { name: h('strong', { dir: 'auto' }), stages: h('span', { class: 'row-detail hint' }), median: cell(), p95: cell(), turns: h('span'), at: h('span', { class: 'row-detail hint' }) }
      row.element = h('tr', {}, h('th', { scope: 'row' }, row.name, row.stages), row.median, row.p95, h('td', {}, row.turns, row.at))
      return row
    },
    fill(row, { assistant, stages, median, p95, turns, at }) {
      setText(row.name, assistant)
      setText(row.stages, stages)
      setText(row.median, median)
      setText(row.p95, p95)
      setText(row.turns, turns)
      setText(row.at, at)
    },
  },
  errors: { title: 'Errors and refusals', empty: 'None since the gateway started.', isOpen: true, columns: ['Time', 'What', 'How often'], rows: errorRows, ...events() },
  ended: { title: 'Ended rooms and sessions', empty: 'None since the gateway started.', columns: ['Time', 'What', ''], rows: endedRows, ...events() },
}

/** Rows for events, with their time. */
function events() {
  return {
    summary: () => '',
    create() {
      const row = { time: h('time'), kind: pill(), title: h('strong', { dir: 'auto' }), details: h('span', { class: 'row-detail hint', dir: 'auto' }), count: cell() }
      row.element = h('tr', {}, h('td', {}, row.time), h('th', { scope: 'row' }, row.kind, ' ', row.title, row.details), row.count)
      return row
    },
    fill(row, { at, count, tone, kind, title, details }) {
      row.time.dateTime = new Date(at).toISOString()
      setText(row.time, time(at))
      setPill(row.kind, tone, kind[0].toUpperCase() + kind.slice(1))
      setText(row.title, title)
      setText(row.details, details)
      setText(row.count, count > 1 ? `${count} times` : '')
    },
  }
}

class OperationsBoard extends View {
  #hint = h('p', { class: 'hint', text: 'Rows stay in place while you point at them or have the focus in them.' })
  #locked = h('p', { class: 'hint' }, 'This token does not show operations. Forget it, and paste one with roomList and roomCreate: ', command('patchbay token --list --create'))
  #tables = []
  #grid = h('div', { class: 'operations' })

  build() {
    const isWide = matchMedia('(min-width: 900px)').matches
    this.#tables = Object.entries(tables).map(([name, table]) => this.#createTable(name, table, isWide))
    this.#grid.append(...this.#tables.map(({ element }) => element))
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Operations')
    this.append(this.#locked, this.#grid, this.#hint)
  }

  #createTable(name, table, isWide) {
    const body = h('tbody')
    const parts = { table, summary: h('p', { class: 'hint' }), empty: h('p', { class: 'hint', text: table.empty }), rows: new HeldRows(body, { limit: MAX_ROWS, create: table.create, fill: table.fill }) }
    const head = h('thead', {}, h('tr', {}, ...table.columns.map((title) => (title ? h('th', { scope: 'col', text: title }) : h('td')))))
    parts.scroll = h('div', { class: 'table-scroll', tabindex: 0, role: 'group', 'aria-label': table.title }, h('table', { class: 'data-table' }, head, body))
    parts.element = panel(table.title, { isOpen: Boolean(table.isOpen) && isWide }, parts.summary, parts.empty, parts.scroll)
    parts.element.dataset.table = name
    return parts
  }

  update({ access, operations, nodes }, previous) {
    const isShown = access !== 'none' && access !== 'unknown'
    this.hidden = !isShown || operations.state === 'loading' || operations.state === 'absent'
    if (this.hidden || operations === previous?.operations) return
    const { view } = operations
    this.#locked.hidden = operations.state !== 'locked'
    this.#grid.hidden = this.#hint.hidden = view === null
    if (view === null) return
    for (const { table, summary, empty, rows, scroll } of this.#tables) {
      const items = table.rows(view, view.at)
      rows.show(items)
      empty.hidden = items.size > 0
      const coordinator = table === tables.workers && otherCoordinator(nodes)
      setText(empty, coordinator ? `Workers are connected to the coordinator, ${coordinator}.` : table.empty)
      scroll.hidden = items.size === 0
      setText(summary, table.summary(view))
      summary.hidden = summary.textContent === ''
    }
  }
}

customElements.define('operations-board', OperationsBoard)

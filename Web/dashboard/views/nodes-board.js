// The nodes of a cluster, and the choice of the one whose figures, plots and operations are shown.

import { chooseNode } from '../model/commands.js'
import { nodeRows } from '../model/nodes.js'
import { HeldRows } from './held-rows.js'
import { View, h, panel, setText } from './view.js'

const MAX_ROWS = 1024

function createRow() {
  const row = {
    radio: h('input', { type: 'radio', name: 'node' }), name: h('strong', { dir: 'auto' }), state: h('span', { class: 'pill' }), detail: h('span', { class: 'hint' }),
    load: h('meter', { min: 0, max: 1, low: 0.5, high: 0.9, optimum: 0 }), share: h('span'), rooms: h('td'), participants: h('td'),
  }
  const choice = h('label', { class: 'node-choice' }, row.radio, row.name, row.state, row.detail)
  row.element = h('tr', {}, h('th', { scope: 'row' }, choice), h('td', {}, row.load, ' ', row.share), row.rooms, row.participants)
  return row
}

function fillRow(row, { name, load, share, rooms, participants, isShown, detail, tone, state }) {
  row.radio.value = name
  row.radio.checked = isShown
  setText(row.name, name)
  setText(row.detail, detail)
  row.detail.hidden = detail === ''
  row.state.dataset.tone = tone
  setText(row.state, state)
  row.load.hidden = load === null
  row.load.value = load ?? 0
  row.load.ariaLabel = `Load of ${name}`
  setText(row.share, share)
  setText(row.rooms, rooms)
  setText(row.participants, participants)
}

class NodesBoard extends View {
  #rows
  #summary = h('p', { class: 'hint', text: 'The figures, plots, participants, workers and errors below are those of the chosen node. The list of rooms is that of all nodes.' })
  #missingTitle = h('h3')
  #missing = h('div', { class: 'problem', 'data-severity': 'warning', role: 'status' }, h('div', {}, this.#missingTitle, h('p', { text: 'Choose another one, or wait until it has started again.' })))

  build() {
    const body = h('tbody', { onchange: ({ target }) => chooseNode(target.value) })
    this.#rows = new HeldRows(body, { limit: MAX_ROWS, create: createRow, fill: fillRow, removesGone: true })
    const head = h('thead', {}, h('tr', {}, ...['Node', 'Load', 'Rooms', 'Participants'].map((text) => h('th', { scope: 'col', text }))))
    const table = h('table', { class: 'data-table' }, head, body)
    this.append(panel('Nodes', { isOpen: true }, this.#missing, h('div', { class: 'table-scroll', tabindex: 0, role: 'group', 'aria-label': 'Nodes of the cluster' }, table), this.#summary))
  }

  update({ nodes }, previous) {
    this.hidden = nodes.items === null
    if (this.hidden || nodes === previous?.nodes) return
    this.#rows.show(nodeRows(nodes))
    this.#missing.hidden = !nodes.isMissing
    setText(this.#missingTitle, nodes.isMissing ? `No node named ${nodes.shown} runs` : '')
  }
}

customElements.define('nodes-board', NodesBoard)

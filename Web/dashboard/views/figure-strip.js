// The gateway in a line of figures.

import { amount, bytes, seconds } from '../model/figures.js'
import { kindOf } from '../model/state.js'
import { history } from '../model/store.js'
import { View, h, setText } from './view.js'

const CPU_SPAN_MS = 10_000

const latest = (name) => history.latest(name)
const sinceNow = (name) => (latest(name) === null ? null : Date.now() / 1000 - latest(name))

function cpu() {
  const now = history.lastTime
  const grown = now === null ? null : history.grown('process_cpu_seconds_total', now - CPU_SPAN_MS)
  return grown === null ? '–' : `${Math.round((grown / (Math.min(CPU_SPAN_MS, Math.max(2000, now - history.firstTime)) / 1000)) * 100)} %`
}

const callCount = ({ rooms }) => (rooms.state === 'ready' ? String(rooms.items.filter(({ name }) => kindOf(name) === 'call').length) : '–')
const speakerCount = ({ rooms }) => (rooms.state === 'ready' ? String(rooms.items.reduce((sum, { num_speakers = 0 }) => sum + num_speakers, 0)) : '–')

// Null in a cluster for those of the list of rooms, which is that of all nodes.
/** @type {[string, (state: any) => string | null][]} */
const figures = [
  ['Rooms', (state) => (state.rooms.state === 'ready' && !state.nodes.items ? String(state.rooms.items.length) : amount(latest('patchbay_rooms')))],
  ['Calls', (state) => (state.nodes.items ? null : callCount(state))],
  ['Talking now', (state) => (state.nodes.items ? null : speakerCount(state))],
  ['Participants', () => amount(latest('patchbay_participants'))],
  ['Connections', () => amount(latest('patchbay_connections'))],
  ['Assistants’ jobs', () => amount(latest('patchbay_jobs_running'))],
  ['Processor', cpu],
  ['Memory', () => bytes(latest('process_resident_memory_bytes'))],
  ['Running for', () => seconds(sinceNow('process_start_time_seconds'))],
  ['Certificate', () => { const left = sinceNow('patchbay_certificate_expiry_timestamp_seconds'); return left === null ? '–' : left < 0 ? `${seconds(-left)}` : 'expired' }],
]

class FigureStrip extends View {
  #values = figures.map(([label, read]) => ({ read, label, value: h('dd', { text: '–' }) }))

  build() {
    this.append(h('dl', { class: 'strip' }, ...this.#values.map(({ label, value }) => h('div', {}, h('dt', { text: label }), value))))
  }

  update(state) {
    this.toggleAttribute('data-old', ['unreachable', 'hidden', 'ended'].includes(state.metrics))
    for (const { read, value } of this.#values) {
      const text = read(state)
      value.parentElement.hidden = text === null
      setText(value, text ?? '–')
    }
  }
}

customElements.define('figure-strip', FigureStrip)

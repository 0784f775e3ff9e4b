// The connection in figures and small plots of the last minute.

import { call } from '../model/call.js'
import { texts } from '../model/language.js'
import { View, h, prepareCanvas, setText } from './view.js'

const INTERVAL_MS = 500
const SAMPLES = 120

const t = texts.network

const milliseconds = (value) => (value === null ? '–' : `${Math.round(value)} ms`)

// `floor`: the least value that fills a plot, so that noise does not look like trouble.
const plots = [
  { key: 'rtt', label: t.rtt, floor: 100, read: ({ rtt }) => rtt, show: milliseconds },
  { key: 'jitter', label: t.jitter, floor: 40, read: ({ jitter }) => jitter, show: milliseconds },
  { key: 'delay', label: t.delay, floor: 200, read: ({ playoutDelay }) => playoutDelay, show: milliseconds },
  { key: 'drops', label: t.drops, floor: 5, isTotal: true, read: dropped, show: (value) => String(value) },
]

/** Frames that were meant to be heard and were not: lost, too late, or not sent because the connection was too slow. */
function dropped({ framesLost, framesLate, microphoneDropped, gateway }) {
  return framesLost + framesLate + microphoneDropped + (gateway?.dropped ?? 0)
}

/** @type {[string, (stats: import('../../patchbay.js').Stats) => number | string][]} */
const figures = [
  [t.received, ({ framesReceived }) => framesReceived],
  [t.sent, ({ framesSent }) => framesSent],
  [t.cleared, ({ framesCleared }) => framesCleared],
  [t.underruns, ({ underruns }) => underruns],
  [t.buffered, ({ buffered }) => milliseconds(buffered)],
  [t.latency, ({ outputLatency }) => milliseconds(outputLatency)],
  [t.reconnects, ({ reconnects }) => reconnects],
]

class NetworkPanel extends View {
  #plots = plots.map((plot) => ({ ...plot, values: [], total: null, value: h('span', { class: 'plot-value', text: '–' }), canvas: h('canvas', { 'aria-hidden': 'true' }) }))
  #figures = figures.map(([label, read]) => ({ label, read, row: h('div', { hidden: true }, h('dt', { text: label })), value: h('dd') }))
  #timer = 0
  #room = null

  build() {
    this.append(
      h('div', { class: 'plots' }, ...this.#plots.map(({ label, value, canvas }) => h('div', { class: 'plot' }, h('div', {}, h('span', { text: label }), value), canvas))),
      h('dl', { class: 'figures' },
        ...this.#figures.map(({ row, value }) => (row.append(value), row))))
    this.#timer = setInterval(() => this.#sample(), INTERVAL_MS)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  #sample() {
    const { room } = call
    if (!room) return
    if (room !== this.#room) {
      this.#room = room
      for (const plot of this.#plots) Object.assign(plot, { values: [], total: null })
    }
    if (room.state !== 'connected') return
    const stats = room.stats()
    for (const plot of this.#plots) {
      const value = plot.read(stats)
      setText(plot.value, plot.show(value))
      // Of totals, the plot shows what was added.
      plot.values.push(plot.isTotal ? Math.max(0, value - (plot.total ?? value)) : value)
      plot.total = value
      if (plot.values.length > SAMPLES) plot.values.shift()
      if (!document.hidden) draw(plot)
    }
    for (const { read, row, value } of this.#figures) {
      const figure = read(stats)
      // Hide rows without a value, and those of events that never occurred.
      row.hidden = figure === null || figure === 0 || figure === '–'
      setText(value, String(figure))
    }
  }
}

function draw({ canvas, values, floor }) {
  const prepared = prepareCanvas(canvas)
  if (!prepared) return
  const { context, width, height } = prepared
  const known = values.filter((value) => value !== null)
  const top = Math.max(floor, ...known) * 1.1
  const x = (index) => width - ((values.length - 1 - index) / (SAMPLES - 1)) * width
  context.strokeStyle = getComputedStyle(canvas).color
  context.lineWidth = 1.5
  context.beginPath()
  let isDrawing = false
  values.forEach((value, index) => {
    if (value === null) return (isDrawing = false)
    const y = height - 1 - (value / top) * (height - 2)
    if (isDrawing) context.lineTo(x(index), y)
    else context.moveTo(x(index), y)
    isDrawing = true
  })
  context.stroke()
}

customElements.define('network-panel', NetworkPanel)

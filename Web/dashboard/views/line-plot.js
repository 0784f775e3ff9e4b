// A plot of lines over time, on a canvas: axes, lines that differ in colour and dash, and a cursor that reads values, by pointer or arrow keys.

import { h, prepareCanvas, setText } from './view.js'

const LEFT = 52
const BOTTOM = 18
const TOP = 6
const COLOURS = 6
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3], [4, 2], [1, 2]]

/** A round number at or above a value, and half of it is round, too. */
export function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 4, 6, 8, 10].find((step) => step * power >= value * 0.999) * power
}

class LinePlot extends HTMLElement {
  #title = h('h3')
  #canvas = h('canvas', { role: 'img' })
  #slider = h('div', { class: 'plot-cursor', role: 'slider', tabindex: 0, 'aria-valuemin': 0 })
  #legend = h('ul', { class: 'legend' })
  #empty = h('p', { class: 'hint plot-empty' })
  #items = []
  #plot = null
  // The cursor's distance from the left edge; null without.
  #cursor = null

  connectedCallback() {
    if (this.hasChildNodes()) return
    this.append(this.#title, h('div', { class: 'plot-area' }, this.#canvas, this.#empty, this.#slider), this.#legend)
    this.#slider.addEventListener('pointermove', (event) => this.#point(event.offsetX))
    this.#slider.addEventListener('pointerleave', () => this.#point(null))
    this.#slider.addEventListener('keydown', (event) => this.#move(event))
    this.#slider.addEventListener('blur', () => this.#point(null))
    new ResizeObserver(() => this.#draw()).observe(this.#canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  /**
   * `plot`: `{title, series: [{name, points: [{time, value}]}], from, to, format, floor, empty}`. All series have the same times; at least
   * `floor` fills the height, so that noise does not look like trouble. `empty` is shown in place of lines.
   */
  show(plot) {
    this.#plot = plot
    setText(this.#title, plot.title)
    const isEmpty = !plot.series.some(({ points }) => points.some(({ value }) => value !== null))
    this.#empty.hidden = !isEmpty
    this.#slider.hidden = isEmpty
    this.#slider.setAttribute('aria-label', `${plot.title}, over time`)
    setText(this.#empty, isEmpty ? plot.empty ?? 'Waiting for a second sample…' : '')
    while (this.#items.length < plot.series.length) {
      const item = { name: h('span', { dir: 'auto' }), value: h('strong') }
      item.element = h('li', { 'data-series': this.#items.length % COLOURS }, h('span', { class: 'swatch', 'aria-hidden': 'true' }), item.name, item.value)
      this.#items.push(item)
      this.#legend.append(item.element)
    }
    for (const item of this.#items.splice(plot.series.length)) item.element.remove()
    this.#draw()
    // New samples are not read out; moving the cursor is.
    if (!this.#slider.matches(':focus')) this.#describeCursor()
  }

  #point(x) {
    this.#cursor = x
    this.#draw()
    this.#describeCursor()
  }

  /** Arrow keys, Home and End: the cursor goes to the next or last sample. */
  #move(event) {
    const { series, from, to } = this.#plot
    const last = series[0].points.length - 1
    const index = this.#index() + { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[event.key]
    if (Number.isNaN(index)) return
    event.preventDefault()
    const { time } = series[0].points[Math.min(Math.max(0, index), last)]
    // Slightly before it, so that rounding does not skip it.
    this.#point(index >= last ? null : Math.max(LEFT, LEFT + ((time - from) / (to - from)) * (this.#canvas.clientWidth - LEFT) - 0.01))
  }

  /** The time at the cursor, or null without. */
  #time() {
    if (this.#cursor === null || this.#cursor < LEFT) return null
    const { from, to } = this.#plot
    return from + ((this.#cursor - LEFT) / (this.#canvas.clientWidth - LEFT)) * (to - from)
  }

  /** The sample at the cursor; without, the last. */
  #index() {
    const time = this.#time()
    const { points } = this.#plot.series[0]
    const index = time === null ? -1 : points.findIndex((one) => one.time >= time)
    return index < 0 ? points.length - 1 : index
  }

  #describeCursor() {
    if (this.#slider.hidden || !this.#plot) return
    const { series: [{ points }], to } = this.#plot
    const index = this.#index()
    const when = index === points.length - 1 ? 'Now' : `${Math.round((to - points[index].time) / 1000)} s ago`
    const values = this.#items.map(({ name, value }) => `${name.textContent} ${value.textContent}`).join('; ')
    const attributes = { 'aria-valuemax': points.length - 1, 'aria-valuenow': index, 'aria-valuetext': `${when}: ${values}` }
    for (const [name, value] of Object.entries(attributes)) this.#slider.setAttribute(name, value)
  }

  #draw() {
    if (!this.#plot || document.hidden) return
    const { series, from, to, format, floor } = this.#plot
    this.#label()
    const prepared = prepareCanvas(this.#canvas)
    if (!prepared) return
    const { context, width, height } = prepared
    const style = getComputedStyle(this)
    const most = Math.max(floor, ...series.flatMap(({ points }) => points.map(({ value }) => value ?? 0)))
    const top = ceiling(most)
    const x = (time) => LEFT + ((time - from) / (to - from)) * (width - LEFT - 1)
    const y = (value) => TOP + (1 - value / top) * (height - TOP - BOTTOM)

    context.font = `11px ${style.fontFamily}`
    context.lineWidth = 1
    context.textBaseline = 'middle'
    for (const share of this.#empty.hidden ? [0, 0.5, 1] : [0]) {
      const level = Math.round(y(top * share)) + 0.5
      context.strokeStyle = style.getPropertyValue('--line')
      context.beginPath()
      context.moveTo(LEFT, level)
      context.lineTo(width, level)
      context.stroke()
      context.fillStyle = style.getPropertyValue('--text-quiet')
      context.textAlign = 'right'
      context.fillText(format(top * share), LEFT - 6, level)
    }
    context.textBaseline = 'alphabetic'
    const ago = (span) => (span < 60_000 ? `−${Math.round(span / 1000)} s` : `−${span / 60_000} min`)
    /** @type {[number, string, CanvasTextAlign][]} */
    const ticks = [[0, ago(to - from), 'left'], [0.5, ago((to - from) / 2), 'center'], [1, 'now', 'right']]
    for (const [share, label, align] of ticks) {
      context.textAlign = align
      context.fillText(label, LEFT + share * (width - LEFT), height - 3)
    }

    context.lineWidth = 1.75
    context.lineJoin = 'round'
    series.forEach(({ points }, number) => {
      context.strokeStyle = style.getPropertyValue(`--series-${number % COLOURS}`)
      context.setLineDash(DASHES[number % DASHES.length])
      context.beginPath()
      let isDrawing = false
      for (const { time, value } of points) {
        if (value === null) isDrawing = false
        else if (isDrawing) context.lineTo(x(time), y(value))
        else context.moveTo(x(time), y(value))
        if (value !== null) isDrawing = true
      }
      context.stroke()
    })
    context.setLineDash([])
    if (this.#cursor !== null && this.#cursor >= LEFT) {
      context.strokeStyle = style.getPropertyValue('--line-strong')
      context.lineWidth = 1
      context.beginPath()
      context.moveTo(Math.round(this.#cursor) + 0.5, TOP)
      context.lineTo(Math.round(this.#cursor) + 0.5, height - BOTTOM)
      context.stroke()
    }
  }

  /** Values in the legend: at the cursor, otherwise the latest. The canvas is described by the same values. */
  #label() {
    const { title, series, format } = this.#plot
    const time = this.#time()
    const described = series.map(({ name, points }, number) => {
      const point = time === null ? points.findLast(({ value }) => value !== null) : points.find((one) => one.time >= time)
      const item = this.#items[number]
      setText(item.name, name)
      setText(item.value, format(point?.value ?? null))
      return { name, now: format(point?.value ?? null), most: format(Math.max(...points.map(({ value }) => value ?? 0))) }
    })
    if (time !== null) return
    const text = `${title}. ${described.map(({ name, now, most }) => `${name}: now ${now}, at most ${most}`).join('; ') || 'No values'}.`
    if (this.#canvas.getAttribute('aria-label') !== text) this.#canvas.setAttribute('aria-label', text)
  }
}

customElements.define('line-plot', LinePlot)

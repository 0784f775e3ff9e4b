// Shapes that follow the voices: bars or a wave on a canvas, the waveform of the stop button, and the ambient shapes of the talk view.

import { h, mediaQuery, prepareCanvas } from '../../shared/elements.js'

// How much later each bar shows a level than the one beside it, in frames.
const BAR_DELAY = 4
const HISTORY = 64
// The shapes drift for 8 s, with voices for 2.5 s.
const ACTIVE_RATE = 8 / 2.5

const darkness = mediaQuery('(prefers-color-scheme: dark)')

/** Follows the assistant while it speaks, and the user otherwise. */
export class Visualizer {
  element = h('canvas', { class: 'visualizer', part: 'visualizer', 'aria-hidden': 'true' })
  #draw
  #levels = new Float32Array(HISTORY)
  #next = 0

  /** `preset`: bars or wave. `count`: of bars. */
  constructor(level, preset, { count = 9 } = {}) {
    this.#draw = preset === 'wave' ? drawWave : drawBars
    this.stop = level.follow((levels) => {
      if (levels.at === 0) this.#levels.fill(0)
      this.#levels[this.#next++ % HISTORY] = Math.max(levels.agent, levels.user)
      this.#render(count, levels.at)
    })
    // Drawn once it has a size, and again with another one or in other colours.
    this.observer = new ResizeObserver(() => this.#render(count, 0))
    this.observer.observe(this.element)
    this.update = () => this.#render(count, 0)
    darkness.addEventListener('change', this.update)
  }

  close() {
    this.stop()
    this.observer.disconnect()
    darkness.removeEventListener('change', this.update)
  }

  #render(count, at) {
    const prepared = prepareCanvas(this.element)
    if (!prepared) return
    // Three properties of the canvas that take colours and show nothing: custom properties are not resolved to colours.
    const { color, caretColor, columnRuleColor } = getComputedStyle(this.element)
    const colors = [color, caretColor, columnRuleColor]
    const level = (frames) => this.#levels[(this.#next - 1 - frames + 2 * HISTORY) % HISTORY]
    this.#draw(prepared, { count, colors, level, at })
  }
}

/** Round bars, the newest level in the middle. */
function drawBars({ context, width, height }, { count, colors, level }) {
  const middle = (count - 1) / 2
  const bar = Math.min(14, width / (count * 1.8))
  const step = bar * 1.7
  for (let index = 0; index < count; index++) {
    const distance = Math.abs(index - middle)
    const share = level(Math.round(distance * BAR_DELAY)) * (1 - 0.45 * (distance / (middle + 1)))
    const length = bar + share * (height - bar)
    context.fillStyle = colors[Math.min(2, Math.floor((distance / (middle + 1)) * 3))]
    context.beginPath()
    context.roundRect(width / 2 + (index - middle) * step - bar / 2, (height - length) / 2, bar, length, bar / 2)
    context.fill()
  }
}

/** Three lines; at rest they are one. */
function drawWave({ context, width, height }, { colors, level, at }) {
  context.lineWidth = 3
  context.lineCap = 'round'
  const strength = level(0)
  colors.forEach((color, index) => {
    context.strokeStyle = color
    context.beginPath()
    for (let x = 8; x <= width - 8; x += 4) {
      const envelope = Math.sin((Math.PI * x) / width)
      const y = height / 2 + Math.sin(x / (26 + 9 * index) + at / (240 + 70 * index)) * envelope * strength * (height / 2 - 6)
      if (x === 8) context.moveTo(x, y)
      else context.lineTo(x, y)
    }
    context.stroke()
  })
}

/** Creates blurred shapes, which CSS animates. */
export const createShapes = () =>
  h('div', { class: 'ambience', part: 'ambience', 'aria-hidden': 'true' }, ...['one', 'two', 'three'].map((name) => h('span', { class: `shape ${name}` })))

/** Creates the shapes behind the talk view, which grow with the level. */
export function createAmbience(level) {
  const element = createShapes()
  const stop = level.follow(({ agent, user }) => {
    const strength = Math.max(agent, user * 0.7)
    element.style.setProperty('--level', strength.toFixed(3))
    const isActive = strength > 0.08
    if (element.hasAttribute('data-active') === isActive) return
    element.toggleAttribute('data-active', isActive)
    // Another duration would make the shapes jump.
    for (const shape of element.children) for (const animation of shape.getAnimations()) animation.updatePlaybackRate(isActive ? ACTIVE_RATE : 1)
  })
  return { element, stop }
}

/** The small waveform within the stop button. */
export function createWaveform(level) {
  const bars = Array.from({ length: 5 }, () => h('span'))
  const levels = []
  const stop = level.follow(({ agent, user, at }) => {
    if (at === 0) levels.length = 0
    levels.unshift(Math.max(agent, user))
    levels.length = Math.min(levels.length, 32)
    bars.forEach((bar, index) => bar.style.setProperty('--level', (levels[Math.abs(index - 2) * BAR_DELAY] ?? 0).toFixed(3)))
  })
  return { element: h('span', { class: 'waveform', 'aria-hidden': 'true' }, ...bars), stop }
}

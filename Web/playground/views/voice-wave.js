// The live waveform and level of one side. With reduced motion, the level alone, four times a second.

import { call } from '../model/call.js'
import { isInCall } from '../model/state.js'
import { View, h, prefersReducedMotion, prepareCanvas, setText } from './view.js'

// Of 20 ms: five seconds.
const COLUMNS = 250
const FLOOR_DB = -60
const METER_INTERVAL_MS = 250

class VoiceWave extends View {
  #name = h('span', { class: 'wave-name', dir: 'auto' })
  #level = h('span', { class: 'wave-level', 'aria-hidden': 'true' })
  #canvas = h('canvas', { 'aria-hidden': 'true' })
  #bar = h('div')
  #meter = h('div', { class: 'meter', role: 'meter', 'aria-valuemin': FLOOR_DB, 'aria-valuemax': 0 }, this.#bar)
  #peaks = new Float32Array(COLUMNS)
  #next = 0
  #stopTap = null
  #tapped = null
  #timer = 0
  #frame = 0
  #isLocal = false

  build() {
    this.#isLocal = this.getAttribute('side') === 'local'
    this.append(h('div', { class: 'wave-head' }, this.#name, this.#level), this.#canvas, this.#meter)
    this.#timer = setInterval(() => this.#measure(), METER_INTERVAL_MS)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
    cancelAnimationFrame(this.#frame)
    this.#tap(null)
  }

  update(state) {
    const { agent, room, microphone, isHeld } = state
    const identity = this.#isLocal ? room.identity : agent?.state === 'gone' ? '' : agent?.identity
    const isLive = isInCall(state) && room.state === 'connected'
    const name = this.#isLocal ? 'You' : agent?.name || 'Assistant'
    const status = this.#isLocal && isLive ? (isHeld ? 'on hold' : microphone.state !== 'on' ? 'mic off' : microphone.muted ? 'muted' : '') : ''
    setText(this.#name, status ? `${name}, ${status}` : name)
    this.#meter.setAttribute('aria-label', `Level: ${name}`)
    this.toggleAttribute('data-quiet', status !== '' || !isLive)
    // After the colour is set.
    this.#tap(isLive && identity ? identity : null)
  }

  /** Follows the audio of an identity, or of nobody. */
  #tap(identity) {
    const key = identity === null ? null : call.room
    if (this.#tapped?.identity === identity && this.#tapped?.key === key) return
    const stop = this.#stopTap
    this.#stopTap = null
    this.#tapped = { identity, key }
    stop?.()
    this.#peaks.fill(0)
    cancelAnimationFrame(this.#frame)
    if (identity === null) return this.#draw()
    try {
      this.#stopTap = call.room.tap(identity, (samples) => this.#note(samples))
    } catch {
      // No audio yet: the next state tries again.
      this.#tapped = null
      return
    }
    this.#animate()
  }

  #note(samples) {
    let peak = 0
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample))
    this.#peaks[this.#next++ % COLUMNS] = peak
  }

  #animate() {
    if (prefersReducedMotion.matches) return
    this.#draw()
    this.#frame = requestAnimationFrame(() => this.#animate())
  }

  #draw() {
    const prepared = prepareCanvas(this.#canvas)
    if (!prepared) return
    const { context, width, height } = prepared
    context.fillStyle = getComputedStyle(this.#canvas).color
    const step = width / COLUMNS
    for (let column = 0; column < COLUMNS; column++) {
      const peak = this.#peaks[(this.#next + column) % COLUMNS]
      // Compressed, so that quiet speech is visible.
      const half = Math.max(0.5, Math.sqrt(peak) * (height / 2 - 1))
      context.fillRect(column * step, height / 2 - half, Math.max(1, step * 0.7), half * 2)
    }
  }

  #measure() {
    if (!call.room || !this.#tapped?.identity) {
      setText(this.#level, '')
      this.#show(FLOOR_DB)
      return
    }
    const level = call.room.level(this.#tapped.identity)
    setText(this.#level, level <= -127 ? 'silent' : `${Math.round(level)} dBov`)
    this.#show(Math.max(FLOOR_DB, level))
  }

  #show(level) {
    this.#bar.style.transform = `scaleX(${1 - level / FLOOR_DB})`
    this.#meter.setAttribute('aria-valuenow', Math.round(level))
    this.#meter.setAttribute('aria-valuetext', level <= FLOOR_DB ? 'silent' : `${Math.round(level)} dBov`)
  }
}

customElements.define('voice-wave', VoiceWave)

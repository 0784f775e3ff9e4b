// The live waveform and level of one side. With reduced motion, the level alone, four times a second.

import { call } from '../model/call.js'
import { texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import { LevelMeter } from './level-meter.js'
import { View, h, prefersReducedMotion, prepareCanvas, setText } from './view.js'

// Of 20 ms: five seconds.
const COLUMNS = 250
const METER_INTERVAL_MS = 250

class VoiceWave extends View {
  #name = h('span', { class: 'wave-name', dir: 'auto' })
  #canvas = h('canvas', { 'aria-hidden': 'true' })
  #meter = new LevelMeter()
  #peaks = new Float32Array(COLUMNS)
  #next = 0
  #stopTap = null
  #tapped = null
  #timer = 0
  #frame = 0
  #isLocal = false

  build() {
    this.#isLocal = this.getAttribute('side') === 'local'
    this.append(h('div', { class: 'wave-head' }, this.#name, this.#meter.word), this.#canvas, this.#meter.element)
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
    const name = this.#isLocal ? texts.you : agent?.name || texts.assistant
    const status = this.#isLocal && isLive ? (isHeld ? texts.call.onHold : microphone.state !== 'on' ? texts.call.microphoneOff : microphone.muted ? texts.call.muted : '') : ''
    setText(this.#name, status ? `${name}, ${status}` : name)
    this.#meter.element.setAttribute('aria-label', texts.call.level(name))
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
    const isMeasured = call.room !== null && Boolean(this.#tapped?.identity)
    this.#meter.show(isMeasured ? call.room.level(this.#tapped.identity) : null)
  }
}

customElements.define('voice-wave', VoiceWave)

// How loud both sides are, 0 to 1, once per displayed frame: what the visualizer, the shapes and the stop button follow.

import { measureLevel } from '../../patchbay/wire.js'
import { prefersReducedMotion } from '../../shared/elements.js'

const FLOOR_DB = -55
// No audio for this long is silence.
const SILENCE_MS = 120
// Of the distance to the new level, per frame: up fast, down slowly.
const ATTACK = 0.5
const RELEASE = 0.12

export class VoiceLevel {
  #session
  #listeners = new Set()
  #frame = 0
  #tapped = null
  #stopTap = null
  #heard = { level: 0, at: 0 }
  #agent = 0
  #user = 0

  constructor(session) {
    this.#session = session
  }

  /** Calls back with `{agent, user, at}` for each frame of a call; `at` is 0 when the levels stop. Returns a function that stops it. */
  follow(listener) {
    if (!this.#listeners.size) prefersReducedMotion.addEventListener('change', this.#stopOnReducedMotion)
    this.#listeners.add(listener)
    listener({ agent: 0, user: 0, at: 0 })
    this.update()
    return () => {
      this.#listeners.delete(listener)
      if (!this.#listeners.size) prefersReducedMotion.removeEventListener('change', this.#stopOnReducedMotion)
    }
  }

  /** To be called with each new state. */
  update() {
    const { call } = this.#session.state
    const isLive = call.phase === 'connected'
    this.#tap(isLive ? call.agent?.identity ?? null : null)
    if (isLive && !this.#frame && this.#listeners.size && !prefersReducedMotion.matches) this.#frame = requestAnimationFrame((at) => this.#measure(at))
  }

  #stopOnReducedMotion = () => {
    this.#rest()
    this.update()
  }

  #rest() {
    this.#agent = this.#user = 0
    for (const listener of this.#listeners) listener({ agent: 0, user: 0, at: 0 })
  }

  /** Follows what is played of a participant, which is later than what arrives. */
  #tap(identity) {
    const { room } = this.#session
    if (this.#tapped?.identity === identity && (identity === null || this.#tapped.room === room)) return
    const stop = this.#stopTap
    this.#stopTap = null
    this.#tapped = { identity, room }
    stop?.()
    if (identity === null) return
    try {
      this.#stopTap = room.tap(identity, (samples) => (this.#heard = { level: scale(measureLevel(samples)), at: performance.now() }))
    } catch {
      // No audio yet: the next state tries again.
      this.#tapped = null
    }
  }

  #measure(at) {
    const { room, state } = this.#session
    const { call } = state
    const isLive = call.phase === 'connected' && this.#listeners.size > 0 && !prefersReducedMotion.matches
    const heard = performance.now() - this.#heard.at < SILENCE_MS ? this.#heard.level : 0
    const isOpen = call.microphone.state === 'on' && !call.microphone.isMuted
    this.#agent = approach(this.#agent, isLive ? heard : 0)
    this.#user = approach(this.#user, isLive && isOpen && room ? scale(room.level(call.identity)) : 0)
    for (const listener of this.#listeners) listener({ agent: this.#agent, user: this.#user, at })
    this.#frame = isLive ? requestAnimationFrame((next) => this.#measure(next)) : 0
    if (!isLive) this.#rest()
  }
}

const scale = (db) => Math.min(1, Math.max(0, 1 - db / FLOOR_DB))
const approach = (from, to) => from + (to - from) * (to > from ? ATTACK : RELEASE)

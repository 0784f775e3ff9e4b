// Records the call on this device as a WAV file with two channels: left what was said, right what was heard.

import { call } from './call.js'
import { store } from './store.js'

const RATE = 48_000
const BYTES_PER_SAMPLE = 4
// Half an hour, about 345 MB.
const MAX_SAMPLES = RATE * 60 * 30
// A side that has delivered nothing for this long is filled with silence.
const MAX_LAG = RATE / 5
const BLOCK = RATE

class Recorder {
  #stops = []
  // Finished blocks as blobs, which browsers may keep on disk.
  #parts = []
  #length = 0
  #startedAt = 0
  #sides = []
  #timer = 0

  start() {
    this.discard()
    const { room } = call
    this.#startedAt = performance.now()
    this.#sides = [new Side(), new Side()]
    this.#stops = [room.localParticipant.identity, null].map((source, side) =>
      room.tap(source, (samples) => this.#sides[side].write(samples, this.#now())))
    this.#timer = setInterval(() => this.#collect(), 1000)
    store.dispatch('recording', { values: { state: 'running', startedAt: Date.now(), url: null, isCut: false } })
  }

  /** Ends the recording and offers it for download. */
  stop() {
    if (!this.#stops.length) return
    const isCut = this.#length >= MAX_SAMPLES
    this.#collect(true)
    this.#release()
    const bytes = this.#length * BYTES_PER_SAMPLE
    const blob = new Blob([header(bytes), ...this.#parts], { type: 'audio/wav' })
    this.#parts = []
    store.dispatch('recording', { values: { state: 'done', url: URL.createObjectURL(blob), size: blob.size, isCut } })
  }

  discard() {
    this.#release()
    this.#parts = []
    this.#length = 0
    const { url } = store.state.recording
    if (url) URL.revokeObjectURL(url)
    store.dispatch('recording', { values: { state: 'none', startedAt: null, url: null, size: 0, isCut: false } })
  }

  #release() {
    clearInterval(this.#timer)
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  #now() {
    return Math.round(((performance.now() - this.#startedAt) * RATE) / 1000)
  }

  /** Interleaves what both sides have, in blocks of a second. */
  #collect(isLast = false) {
    for (const side of this.#sides) side.fill(this.#now())
    const available = Math.min(...this.#sides.map(({ end }) => end)) - this.#length
    const count = Math.min(isLast ? available : available - (available % BLOCK), MAX_SAMPLES - this.#length)
    if (count > 0) {
      const samples = new Int16Array(count * 2)
      this.#sides.forEach((side, channel) => side.read(samples, channel, count))
      this.#parts.push(new Blob([samples]))
      this.#length += count
    }
    if (!isLast && this.#length >= MAX_SAMPLES) this.stop()
  }
}

/** Samples of one side at their time since the start. */
class Side {
  end = 0
  #chunks = []

  write(samples, now) {
    this.fill(now - samples.length)
    this.#push(samples)
  }

  /** Adds silence if nothing was written for a while: the microphone was off, or the sound. */
  fill(now) {
    if (now - this.end > MAX_LAG) this.#push(new Float32Array(now - this.end))
  }

  read(target, channel, count) {
    let at = 0
    while (at < count) {
      const chunk = this.#chunks[0]
      const taken = Math.min(chunk.length, count - at)
      for (let index = 0; index < taken; index++) {
        target[(at + index) * 2 + channel] = Math.round(Math.max(-1, Math.min(1, chunk[index])) * 32767)
      }
      at += taken
      if (taken === chunk.length) this.#chunks.shift()
      else this.#chunks[0] = chunk.subarray(taken)
    }
  }

  #push(samples) {
    this.#chunks.push(samples)
    this.end += samples.length
  }
}

/** The header of a WAV file with two channels of 16 bits; the samples are little-endian, as on all machines with browsers. */
function header(bytes) {
  const view = new DataView(new ArrayBuffer(44))
  const text = (at, value) => [...value].forEach((character, index) => view.setUint8(at + index, character.charCodeAt(0)))
  text(0, 'RIFF')
  view.setUint32(4, 36 + bytes, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 2, true)
  view.setUint32(24, RATE, true)
  view.setUint32(28, RATE * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, bytes, true)
  return view
}

export const recorder = new Recorder()

// Plays one track: a ring of samples indexed by media time, and the mapping from media time to the context's clock.
//
// A sample with media time `ts` is rendered at context frame `ts + base`. Arrivals are measured on the wall clock, because the
// context renders in bursts and stands still between them: a frame that arrives at time T was on its way for `T - ts` (plus an
// unknown constant), its offset. The smallest offset of the last seconds is that of the fastest frame. The lead, how far rendering
// is ahead of the wall clock at most, relates the two clocks: the playout delay is `base - lead - fastest`.
//
//   live   The delay returns to its target: the start delay, more if frames arrive with jitter, up to 20 ms less while they arrive
//          steadily. Excess delay is skipped.
//   ahead  Everything is played: `base` changes only when playout starts or has run out of audio.
//
// Samples that are not known are NaN. All fades take 2.5 ms.

import { DelayEstimator, MILLISECOND } from './delay-estimator.js'

const SIZE = 1 << 18
const MASK = SIZE - 1
const FADE = 120
// Frames that arrive later than this after their time start over with the target delay.
const LATE_LIMIT = 120 * MILLISECOND
// Audio that is due later than this belongs to a new time line, if nothing else is buffered.
const EARLY_LIMIT = { live: 1000 * MILLISECOND, ahead: 500 * MILLISECOND }
const RESTART_MARGIN = 10 * MILLISECOND
const JITTER_MARGIN = 15 * MILLISECOND
// How far the target falls below the start delay while frames arrive steadily, and the least that it falls to.
const STEADY_GAIN = 20 * MILLISECOND
const STEADY_TARGET_MIN = 40 * MILLISECOND
const SKIP_AT_ONCE = 400 * MILLISECOND
const SKIP_THRESHOLD = 15 * MILLISECOND
const STEADY_SKIP_THRESHOLD = 5 * MILLISECOND
// How long to wait for quiet stretches to skip, before speech is skipped.
const SKIP_PATIENCE = 1500 * MILLISECOND
const QUIET = 0.01
// Nothing to play for this long is a pause of the speaker.
const PAUSE = 150 * MILLISECOND
const QUIET_STRETCH = 10 * MILLISECOND
// Words are highlighted by these reports, so at most this late.
const REPORT_INTERVAL = 24 * MILLISECOND

class Playback extends AudioWorkletProcessor {
  #ring = new Float32Array(SIZE).fill(NaN)
  #mode
  #startDelay
  // Null: nothing is known about time yet.
  #base = null
  // The end of what was written, in media time.
  #end = 0
  #gain = 0
  #tail = new Float32Array(FADE)
  #tailLeft = 0
  #network = new DelayEstimator()
  #excessSince = null
  #emptySince = null
  // The end of the last frame, in media time.
  #lastEnd = null
  #wasPlaying = false
  #lastReport = 0
  #counts = { late: 0, skipped: 0, underruns: 0 }
  // How often the owner has cleared; returned in reports.
  #generation = 0
  // Buffers of frames that were written. They go back with the next report: as garbage they would stay for minutes, because browsers
  // collect a worklet's garbage rarely.
  #used = []
  #isStopped = false

  constructor({ processorOptions: { mode, startDelay } }) {
    super()
    this.#mode = mode
    this.#startDelay = Math.round(startDelay * MILLISECOND)
    this.port.onmessage = ({ data }) => {
      if (data.type === 'audio') {
        this.#write(data.ts, data.samples)
        this.#used.push(data.samples.buffer)
      } else if (data.type === 'clear') {
        this.#generation = data.generation
        this.#clear()
      } else this.#isStopped = true
    }
  }

  get #position() {
    return currentFrame - this.#base
  }

  #write(ts, samples) {
    const offset = this.#network.noteArrival(ts)
    const slack = ts - this.#position
    const isEmpty = this.#base === null || this.#end <= this.#position
    const isContinuous = ts === this.#lastEnd
    this.#lastEnd = ts + samples.length
    if (this.#base === null) this.#startOver(offset, this.#target)
    else if (isEmpty && slack < 0) {
      if (isContinuous && -slack < LATE_LIMIT) this.#counts.underruns++
      const isShort = this.#mode === 'live' && -slack < LATE_LIMIT
      this.#startOver(offset, isShort ? RESTART_MARGIN : this.#target)
    } else if (isEmpty && slack > EARLY_LIMIT[this.#mode]) this.#startOver(offset, this.#target)
    else if (ts + samples.length - this.#position > SIZE - 128) {
      this.#clear()
      this.#startOver(offset, this.#target)
    }
    const position = this.#position
    if (ts < position) this.#counts.late++
    for (let index = Math.max(0, position - ts); index < samples.length; index++) this.#ring[(ts + index) & MASK] = samples[index]
    this.#end = Math.max(this.#end, ts + samples.length)
  }

  get #delay() {
    return this.#base - this.#network.lead - this.#network.fastest
  }

  /** The playout delay to aim for. */
  get #target() {
    if (this.#mode !== 'live') return this.#startDelay
    const steady = Math.min(this.#startDelay, Math.max(this.#startDelay - STEADY_GAIN, STEADY_TARGET_MIN))
    return Math.max(this.#network.isSteady ? steady : this.#startDelay, Math.round(this.#network.jitter + JITTER_MARGIN))
  }

  /** Plays a frame with this offset after a delay. */
  #startOver(offset, delay) {
    this.#rebase(this.#network.lead + offset + delay)
  }

  /** Starts a new time line, with nothing buffered. */
  #rebase(base) {
    this.#base = base
    this.#end = this.#position
    this.#excessSince = null
  }

  #clear() {
    if (this.#base !== null) this.#fadeOut()
    this.#ring.fill(NaN)
    this.#base = null
    this.#network.forget()
    this.#report()
  }

  /** Keeps the next samples to fade them out while other audio, or none, takes their place. */
  #fadeOut() {
    const position = this.#position
    for (let index = 0; index < FADE; index++) {
      const sample = this.#ring[(position + index) & MASK]
      this.#tail[index] = Number.isNaN(sample) ? 0 : sample * this.#gain * (1 - index / FADE)
    }
    this.#tailLeft = FADE
    this.#gain = 0
  }

  process(inputs, [[output]]) {
    this.#network.noteRendering(currentFrame)
    if (this.#base !== null) {
      if (this.#mode === 'live') this.#adapt()
      this.#play(output)
    }
    for (let index = 0; index < output.length && this.#tailLeft > 0; index++) output[index] += this.#tail[FADE - this.#tailLeft--]
    const isPlaying = this.#base !== null && this.#end > this.#position + output.length
    if (isPlaying !== this.#wasPlaying || (isPlaying && currentFrame - this.#lastReport >= REPORT_INTERVAL)) {
      this.#wasPlaying = isPlaying
      this.#report(output.length)
    }
    return !this.#isStopped
  }

  #play(output) {
    const position = this.#position
    for (let index = 0; index < output.length; index++) {
      const sample = this.#ring[(position + index) & MASK]
      if (Number.isNaN(sample)) {
        this.#gain = 0
        continue
      }
      const isFollowed = !Number.isNaN(this.#ring[(position + index + FADE) & MASK])
      this.#gain = Math.min(1, Math.max(0, this.#gain + (isFollowed ? 1 : -1) / FADE))
      output[index] = sample * this.#gain
      this.#ring[(position + index) & MASK] = NaN
    }
  }

  /** Moves the delay towards its target: in pauses freely, otherwise by skipping, preferably what is quiet. */
  #adapt() {
    if (currentFrame % (10 * 128) === 0) this.#network.measure()
    if (this.#network.fastest === null) return
    const excess = Math.round(this.#delay - this.#target)
    const isPause = this.#end <= this.#position
    if (!isPause) this.#emptySince = null
    else {
      // Audio that is merely late is no pause.
      this.#emptySince ??= currentFrame
      if (currentFrame - this.#emptySince < PAUSE) return
      if (Math.abs(excess) > MILLISECOND) this.#rebase(this.#base - excess)
      return
    }
    if (excess < (this.#network.isSteady ? STEADY_SKIP_THRESHOLD : SKIP_THRESHOLD)) {
      this.#excessSince = null
      return
    }
    this.#excessSince ??= currentFrame
    // Speech is skipped for the start delay, but not for less.
    const isWorthIt = Math.min(excess, this.#delay - this.#startDelay) >= SKIP_THRESHOLD
    const isUrgent = excess > SKIP_AT_ONCE || (isWorthIt && currentFrame - this.#excessSince > SKIP_PATIENCE)
    if (isUrgent) {
      this.#skip(excess)
      this.#excessSince = null
    } else if (this.#isQuiet()) this.#skip(Math.min(excess, QUIET_STRETCH))
  }

  /** Whether nothing can be heard in the next stretch. */
  #isQuiet() {
    for (let index = 0; index < QUIET_STRETCH; index++) {
      // Unknown samples are no obstacle.
      if (Math.abs(this.#ring[(this.#position + index) & MASK]) > QUIET) return false
    }
    return true
  }

  #skip(duration) {
    this.#fadeOut()
    const known = Math.min(duration, this.#end - this.#position)
    for (let index = 0; index < known; index++) this.#ring[(this.#position + index) & MASK] = NaN
    this.#base -= duration
    this.#counts.skipped += known
  }

  /** `rendered`: how many frames after `currentFrame` are on their way to the output. */
  #report(rendered = 0) {
    this.#lastReport = currentFrame
    const isTimed = this.#base !== null
    const position = isTimed ? this.#position + rendered : 0
    const report = {
      generation: this.#generation,
      // The end of what was played, and what is buffered after it.
      played: isTimed ? Math.min(position, this.#end) : null,
      buffered: isTimed ? Math.max(0, this.#end - position) : 0,
      delay: isTimed && this.#network.fastest !== null ? this.#delay / MILLISECOND : null,
      jitter: this.#network.jitter / MILLISECOND,
      late: this.#counts.late,
      skipped: this.#counts.skipped / MILLISECOND,
      underruns: this.#counts.underruns,
    }
    this.port.postMessage({ report, used: this.#used }, this.#used)
    this.#used = []
  }
}

registerProcessor('patchbay-playback', Playback)

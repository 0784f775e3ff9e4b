// How long frames are on their way, for `playback-worklet.js`, which explains the terms. Times are in samples.

export const MILLISECOND = 48

const WINDOW = 256
const FASTEST_WINDOW = 1500 * MILLISECOND
const JITTER_WINDOW = 6000 * MILLISECOND
const JITTER_LIMIT = 200 * MILLISECOND
// Long, because a busy machine renders late and catches up seconds later.
const LEAD_INTERVAL = 5000 * MILLISECOND
// Frames arrive steadily if none is later than this, from this time after the first frame on, or after the last late one.
const STEADY_LATENESS = 25 * MILLISECOND
const STEADY_AFTER_START = 5000 * MILLISECOND
const STEADY_AFTER_LATENESS = 30000 * MILLISECOND

export class DelayEstimator {
  /** The offset of the fastest recent frame; null before the first measurement. */
  fastest = null
  /** The 95th percentile of the other frames' delay behind it. */
  jitter = 0
  // Of the last frames.
  #offsets = new Float64Array(WINDOW)
  #arrivals = new Float64Array(WINDOW).fill(-Infinity)
  #count = 0
  #delays = new Float64Array(WINDOW)
  // Maxima of two alternating intervals.
  #leads = [-Infinity, -Infinity]
  #leadSince = 0
  #steadyFrom = null

  /** Notes that a frame has arrived, and returns its offset. */
  noteArrival(ts) {
    const now = wallClock()
    this.#arrivals[this.#count % WINDOW] = now
    this.#offsets[this.#count % WINDOW] = now - ts
    this.#count++
    this.#steadyFrom ??= now + STEADY_AFTER_START
    return now - ts
  }

  noteRendering(frame) {
    const now = wallClock()
    if (now - this.#leadSince > LEAD_INTERVAL || now < this.#leadSince) {
      this.#leads = [-Infinity, this.#leads[0]]
      this.#leadSince = now
    }
    this.#leads[0] = Math.max(this.#leads[0], frame - now)
  }

  /** How far rendering is ahead of the wall clock at most. */
  get lead() {
    const lead = Math.max(...this.#leads)
    return lead === -Infinity ? currentFrame - wallClock() : lead
  }

  /** Whether no frame was late recently. */
  get isSteady() {
    return this.#steadyFrom !== null && wallClock() >= this.#steadyFrom
  }

  /** Updates `fastest`, `jitter` and `isSteady`. */
  measure() {
    const now = wallClock()
    let fastest = Infinity
    for (let index = 0; index < WINDOW; index++) {
      if (now - this.#arrivals[index] < FASTEST_WINDOW) fastest = Math.min(fastest, this.#offsets[index])
    }
    if (fastest === Infinity) return
    this.fastest = fastest
    let count = 0
    for (let index = 0; index < WINDOW; index++) {
      const delay = Math.max(0, this.#offsets[index] - fastest)
      if (now - this.#arrivals[index] >= JITTER_WINDOW) continue
      if (delay > STEADY_LATENESS) this.#steadyFrom = now + STEADY_AFTER_LATENESS
      if (delay < JITTER_LIMIT) this.#delays[count++] = delay
    }
    const delays = this.#delays.subarray(0, count).sort()
    this.jitter = count ? delays[Math.floor(count * 0.95)] : 0
  }

  /** Starts with new frames: those known belong to another time line. */
  forget() {
    this.#arrivals.fill(-Infinity)
    this.fastest = this.#steadyFrom = null
  }
}

/** Worklets have no monotonic clock. If this one jumps, the windows forget it within seconds. */
function wallClock() {
  return Date.now() * MILLISECOND
}

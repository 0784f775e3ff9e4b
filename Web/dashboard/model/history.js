// Samples of the last hour, in a ring of fixed size: the gateway's history, followed by the page's own samples. Pure; time is an argument.

export class History {
  #capacity
  #times
  // By key; NaN where a sample did not have it.
  #columns = new Map()
  // The number of restarts of the gateway before each sample.
  #restarts
  #restartCount = 0
  #next = 0
  #count = 0

  constructor(capacity) {
    this.#capacity = capacity
    this.#times = new Float64Array(capacity)
    this.#restarts = new Uint32Array(capacity)
  }

  get count() {
    return this.#count
  }

  /** In milliseconds; null without samples. */
  get firstTime() {
    return this.#count ? this.#times[this.#index(0)] : null
  }

  get lastTime() {
    return this.#count ? this.#times[this.#index(this.#count - 1)] : null
  }

  /** The keys that any sample had. */
  get keys() {
    return [...this.#columns.keys()]
  }

  /** Adds a sample, in place of the oldest if the ring is full. `values`: a map of numbers by key. Times ascend. */
  push(time, values) {
    const at = this.#next
    for (const key of values.keys()) {
      if (!this.#columns.has(key)) this.#columns.set(key, new Float64Array(this.#capacity).fill(NaN))
    }
    this.#times[at] = time
    this.#restarts[at] = this.#restartCount
    for (const [key, column] of this.#columns) column[at] = values.get(key) ?? NaN
    this.#next = (at + 1) % this.#capacity
    this.#count = Math.min(this.#count + 1, this.#capacity)
  }

  /** Inserts samples, `[{time, values}]`, before the existing ones: the gateway's, from before the page was opened. */
  backfill(samples) {
    const own = Array.from({ length: this.#count }, (_, number) => {
      const at = this.#index(number)
      const values = [...this.#columns].filter(([, column]) => !Number.isNaN(column[at])).map(([key, column]) => /** @type {const} */ ([key, column[at]]))
      return { time: this.#times[at], restarts: this.#restarts[at], values: new Map(values) }
    })
    const first = own[0] ?? { time: Infinity, restarts: this.#restartCount }
    const latest = this.#restartCount
    this.clear()
    this.#restartCount = first.restarts
    for (const { time, values } of samples) if (time < first.time) this.push(time, values)
    for (const { time, restarts, values } of own) {
      this.#restartCount = restarts
      this.push(time, values)
    }
    this.#restartCount = latest
  }

  /** The following samples are of another process, whose counters began at zero: how much they grew across is unknown. */
  noteRestart() {
    this.#restartCount++
  }

  clear() {
    this.#count = this.#next = 0
    this.#columns.clear()
  }

  /** The latest value; null if the last sample does not have it. */
  latest(key) {
    return this.#count ? this.#value(key, this.#count - 1) : null
  }

  /**
   * Values over time, `[{time, value}]`: at most `points` equal spans from `from` to `to`, each with its last sample. Null where there is
   * none, so that a gap stays a gap.
   */
  levels(key, from, to, points) {
    return this.#spans(from, to, points, (first, last) => this.#value(key, last))
  }

  /** How fast a counter grows, per second, over time; as `levels`. A counter that went back was reset: that span is null. */
  rates(key, from, to, points) {
    return this.#spans(from, to, points, (first, last) => this.#rate(key, first, last))
  }

  /** What `read` makes of several counters' growth within each span: it gets a function from keys to growth, which is null if unknown. */
  growth(from, to, points, read) {
    return this.#spans(from, to, points, (first, last) => read((key) => this.#difference(key, first, last)))
  }

  /** The growth of a counter between `from` and now, after a restart since then that since the restart; null if unknown. */
  grown(key, from) {
    const [first, last] = [this.#firstAfter(from), this.#count - 1]
    if (first >= last) return null
    return this.#hasRestarted(first, last) ? this.#value(key, last) : this.#difference(key, first, last)
  }

  #hasRestarted(first, last) {
    return this.#restarts[this.#index(first)] !== this.#restarts[this.#index(last)]
  }

  #rate(key, first, last) {
    const difference = this.#difference(key, first, last)
    return difference === null ? null : (difference * 1000) / (this.#times[this.#index(last)] - this.#times[this.#index(first)])
  }

  #difference(key, first, last) {
    const [before, after] = [this.#value(key, first), this.#value(key, last)]
    if (this.#hasRestarted(first, last)) return null
    // A counter with a label appears with its first event.
    if (after === null || first === last) return null
    const difference = after - (before ?? 0)
    return difference < 0 ? null : difference
  }

  /** Calls `read` with the last sample before each span and the last within it. */
  #spans(from, to, points, read) {
    const width = (to - from) / points
    const result = []
    let sample = this.#firstAfter(from)
    for (let number = 0; number < points; number++) {
      const end = from + (number + 1) * width
      const first = sample
      while (sample < this.#count && this.#times[this.#index(sample)] <= end) sample++
      // The sample before the span, unless there was a gap: what happened meanwhile is not known to have happened in this span.
      const before = first > 0 && this.#times[this.#index(first)] - this.#times[this.#index(first - 1)] < Math.max(2 * width, GAP_MS) ? first - 1 : first
      result.push({ time: end - width / 2, value: sample > first ? read(before, sample - 1) : undefined })
    }
    return fill(result, Math.max(1, Math.ceil(GAP_MS / width)))
  }

  #firstAfter(time) {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#times[this.#index(middle)] < time) low = middle + 1
      else high = middle
    }
    return low
  }

  #index(number) {
    return (this.#next - this.#count + number + 2 * this.#capacity) % this.#capacity
  }

  #value(key, number) {
    const value = this.#columns.get(key)?.[this.#index(number)]
    return value === undefined || Number.isNaN(value) ? null : value
  }
}

// Samples further apart than this have a gap between them: the page slept, or the gateway could not be reached.
const GAP_MS = 15_000

/** Spans without a sample repeat the one before, up to a gap: the page samples less often than a short plot has spans. */
function fill(points, limit) {
  let since = Infinity
  let value = null
  return points.map((point) => {
    if (point.value !== undefined) [value, since] = [point.value, 0]
    else since++
    return { time: point.time, value: since < limit ? value : null }
  })
}

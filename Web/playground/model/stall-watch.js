// Detects a gateway that stops responding, long before the connection is considered lost.

// The interval between probes, and the time to respond: less than 5 s together.
const INTERVAL_MS = 1500
const PATIENCE_MS = 2500

export class StallWatch {
  #ask
  #changed
  #timer = 0
  #askedAt = null
  #isPending = false
  #isStalled = false

  /** `ask()` returns a promise of a response; `changed(isStalled)` is called on each change. */
  constructor(ask, changed) {
    this.#ask = ask
    this.#changed = changed
  }

  start() {
    this.stop()
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS / 3)
  }

  stop() {
    clearInterval(this.#timer)
    this.#askedAt = null
    this.#isPending = false
    this.#note(false)
  }

  #tick() {
    const now = performance.now()
    if (this.#isPending) return this.#note(now - this.#askedAt > PATIENCE_MS)
    if (this.#askedAt !== null && now - this.#askedAt < INTERVAL_MS) return
    this.#askedAt = now
    this.#isPending = true
    // A refusal counts as a response, and so does a lost connection, which is reported separately.
    const answered = () => {
      if (this.#askedAt !== now) return
      this.#isPending = false
      this.#note(false)
    }
    this.#ask().then(answered, answered)
  }

  #note(isStalled) {
    if (isStalled === this.#isStalled) return
    this.#isStalled = isStalled
    this.#changed(isStalled)
  }
}

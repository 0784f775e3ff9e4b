// Notices a gateway that does not answer, long before the connection counts as lost.

// Asked this often, the gateway has this long to answer: together less than 5 s.
const INTERVAL_MS = 1500
const PATIENCE_MS = 2500

export class StallWatch {
  #ask
  #changed
  #timer = 0
  #askedAt = null
  #isPending = false
  #isStalled = false

  /** `ask()` returns a promise of the gateway's answer; `changed(isStalled)` is told. */
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
    // A refusal is an answer, too; so is the loss of the connection, which is told otherwise.
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

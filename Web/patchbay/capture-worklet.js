// Collects audio in chunks of 20 ms and posts them: the microphone for the encoder, and what is played for taps.

const CHUNK = 960

class Capture extends AudioWorkletProcessor {
  #chunk = new Float32Array(CHUNK)
  #filled = 0
  // Of the chunk's first sample, on the context's clock.
  #frame = 0
  #isStopped = false

  constructor() {
    super()
    this.port.onmessage = () => (this.#isStopped = true)
  }

  process([channels]) {
    const length = channels[0]?.length ?? 128
    for (let index = 0; index < length; index++) {
      if (this.#filled === 0) this.#frame = currentFrame + index
      let sum = 0
      for (const channel of channels) sum += channel[index]
      this.#chunk[this.#filled++] = channels.length ? sum / channels.length : 0
      if (this.#filled === CHUNK) this.#post()
    }
    return !this.#isStopped
  }

  #post() {
    // Copied, as a new chunk each time would be garbage, which browsers collect rarely in worklets.
    this.port.postMessage({ frame: this.#frame, samples: this.#chunk })
    this.#filled = 0
  }
}

registerProcessor('patchbay-capture', Capture)

// Signals a ringing call: a tone on both sides, vibration on phones, and the page's title.

// Tones by kind: frequencies in hertz, duration and pause in milliseconds.
const PATTERNS = {
  incoming: { frequencies: [480, 620], on: 1000, off: 2000 },
  outgoing: { frequencies: [425], on: 1000, off: 4000 },
}
const VOLUME = 0.08
const VIBRATION = [400, 200, 400]

// Before a gesture, browsers neither vibrate nor play, and log a warning.
const canSignal = () => navigator.userActivation?.hasBeenActive !== false

export class Ringer {
  #kind = null
  #context = null
  #timer = 0
  #title = document.title

  /** `kind`: incoming, outgoing, or null for silence. `name`: the caller's. */
  ring(kind, name = '') {
    document.title = kind === 'incoming' ? `${name} is calling` : this.#title
    if (kind === this.#kind) return
    this.#kind = kind
    clearInterval(this.#timer)
    if (canSignal()) navigator.vibrate?.(0)
    // Closing the context stops all tones.
    this.#context?.close()
    this.#context = null
    if (!kind) return
    const { on, off } = PATTERNS[kind]
    this.#sound(PATTERNS[kind])
    this.#timer = setInterval(() => this.#sound(PATTERNS[kind]), on + off)
  }

  #sound({ frequencies, on }) {
    if (!canSignal()) return
    if (this.#kind === 'incoming') navigator.vibrate?.(VIBRATION)
    this.#context ??= new AudioContext()
    const { currentTime: from, destination } = this.#context
    const gain = new GainNode(this.#context, { gain: 0 })
    const until = from + on / 1000
    gain.gain.setTargetAtTime(VOLUME, from, 0.02)
    gain.gain.setTargetAtTime(0, until - 0.06, 0.02)
    gain.connect(destination)
    for (const frequency of frequencies) {
      const tone = new OscillatorNode(this.#context, { frequency })
      tone.connect(gain)
      tone.start(from)
      tone.stop(until)
    }
  }
}

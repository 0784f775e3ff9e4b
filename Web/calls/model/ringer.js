// What is heard and felt of ringing: a tone on both sides, vibration on phones, and the title of the page.

// By kind: the tone's frequencies in hertz, and how long it sounds and pauses, in milliseconds.
const PATTERNS = {
  incoming: { frequencies: [480, 620], on: 1000, off: 2000 },
  outgoing: { frequencies: [425], on: 1000, off: 4000 },
}
const VOLUME = 0.08
const VIBRATION = [400, 200, 400]

export class Ringer {
  #kind = null
  #context = null
  #timer = 0
  #title = document.title

  /** `kind`: incoming, outgoing, or null for silence. `name`: who calls. */
  ring(kind, name = '') {
    document.title = kind === 'incoming' ? `${name} is calling` : this.#title
    if (kind === this.#kind) return
    this.#kind = kind
    clearInterval(this.#timer)
    navigator.vibrate?.(0)
    // Closing it stops every tone.
    this.#context?.close()
    this.#context = null
    if (!kind) return
    const { on, off } = PATTERNS[kind]
    this.#sound(PATTERNS[kind])
    this.#timer = setInterval(() => this.#sound(PATTERNS[kind]), on + off)
  }

  #sound({ frequencies, on }) {
    if (this.#kind === 'incoming' && navigator.userActivation?.hasBeenActive !== false) navigator.vibrate?.(VIBRATION)
    // Before a gesture the browser plays nothing, and says so on the console.
    if (navigator.userActivation?.hasBeenActive === false) return
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

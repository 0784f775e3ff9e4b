// Tests the devices before a call: the level of the microphone, and a sound of the speaker. No audio leaves the page.

import { openStream } from '../../patchbay/audio-capture.js'
import { measureLevel } from '../../patchbay/wire.js'
import { store } from './store.js'

const SILENCE = -127
// A test ends by itself after this time.
const LONGEST_TEST_MS = 60_000
const TONES_HZ = [523.25, 659.25, 783.99]
const TONE_SECONDS = 0.35
const TONE_GAIN = 0.15

class MicrophoneCheck {
  #stream = null
  #context = null
  #analyser = null
  #samples = new Float32Array(2048)
  #timer = 0
  // The number of starts; only the latest one counts.
  #starts = 0

  /** The level in dBov; silence without a test. */
  get level() {
    if (!this.#analyser) return SILENCE
    this.#analyser.getFloatTimeDomainData(this.#samples)
    return measureLevel(this.#samples)
  }

  async start(deviceId) {
    this.#release()
    const number = ++this.#starts
    store.dispatch('check', { values: { state: 'waiting', code: null, message: '' } })
    try {
      const stream = await openStream(deviceId ? { deviceId: { exact: deviceId } } : true)
      if (number !== this.#starts) return stream.getTracks().forEach((track) => track.stop())
      this.#stream = stream
      this.#context = new AudioContext()
      this.#analyser = this.#context.createAnalyser()
      this.#context.createMediaStreamSource(stream).connect(this.#analyser)
      this.#timer = setTimeout(() => this.stop(), LONGEST_TEST_MS)
      stream.getAudioTracks()[0].onended = () => this.stop()
      store.dispatch('check', { values: { state: 'on' } })
    } catch ({ code = 'default', message = '' }) {
      if (number !== this.#starts) return
      this.#release()
      store.dispatch('check', { values: { state: 'failed', code, message } })
    }
  }

  stop() {
    this.#starts++
    this.#release()
    if (store.state.check.state !== 'off') store.dispatch('check', { values: { state: 'off' } })
  }

  #release() {
    clearTimeout(this.#timer)
    this.#stream?.getTracks().forEach((track) => track.stop())
    this.#context?.close()
    this.#stream = this.#context = this.#analyser = null
  }
}

export const microphoneCheck = new MicrophoneCheck()

/** Plays three tones. Call it in the handler of a gesture. Resolves to whether they were played. */
export async function playTestSound(deviceId) {
  const context = new AudioContext()
  try {
    // @ts-ignore: TypeScript 4.8 does not declare it.
    if (deviceId) await context.setSinkId(deviceId)
    const gain = new GainNode(context, { gain: TONE_GAIN })
    gain.connect(context.destination)
    const ends = TONES_HZ.map((frequency, index) => {
      const tone = new OscillatorNode(context, { frequency })
      tone.connect(gain)
      tone.start(context.currentTime + index * TONE_SECONDS)
      tone.stop(context.currentTime + (index + 1) * TONE_SECONDS)
      return new Promise((resolve) => (tone.onended = resolve))
    })
    const timeout = new Promise((resolve) => setTimeout(() => resolve('late'), 1000 * TONE_SECONDS * TONES_HZ.length + 2000))
    return (await Promise.race([Promise.all(ends), timeout])) !== 'late'
  } catch {
    return false
  } finally {
    context.close()
  }
}

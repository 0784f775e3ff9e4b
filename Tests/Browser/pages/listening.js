// Compares what leaves a page's audio output with what the library says is heard. The speech has marks: loud clicks once a second.

import { SampleClock, concatenate } from './analysis.js'

const RATE = 48000
const PER_MS = RATE / 1000
const LOUD = 0.6

/** Decodes packets, given as base64, and returns the offsets of the marks in samples. */
export async function findMarks(packets) {
  const chunks = []
  const decoder = new AudioDecoder({
    output: (data) => {
      const samples = new Float32Array(data.numberOfFrames)
      data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' })
      chunks.push(samples)
      data.close()
    },
    error: (error) => console.error(error),
  })
  decoder.configure({ codec: 'opus', sampleRate: RATE, numberOfChannels: 1 })
  packets.forEach((packet, index) => {
    const data = Uint8Array.from(atob(packet), (character) => character.charCodeAt(0))
    decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: index * 20000, data }))
  })
  await decoder.flush()
  decoder.close()
  const marks = []
  new MarkFinder().find(concatenate(chunks), 0, (frame) => marks.push(frame))
  return marks
}

class MarkFinder {
  #last = -Infinity

  find(samples, frame, found) {
    for (let index = 0; index < samples.length; index++) {
      if (Math.abs(samples[index]) < LOUD) continue
      if (frame + index - this.#last > RATE / 10) found(frame + index)
      this.#last = frame + index
    }
  }
}

/**
 * Observes a room whose assistant repeats speech of `length` samples with these marks. Errors are in milliseconds: how far the reported
 * position is ahead of what is heard, and how long after its beginning a word is highlighted.
 */
export class Listener {
  #errors = { position: [], word: [] }
  #room
  #clock = new SampleClock()
  // The mark that was heard last, and the position that was reported last.
  #mark = null
  #position = null
  #word = null
  #underruns = 0

  constructor(room, marks, length) {
    this.#room = room
    const finder = new MarkFinder()
    room.tap(null, (samples, frame) => {
      this.#clock.note(samples, frame)
      finder.find(samples, frame, (found) => this.#noteMark(found, marks, length))
    })
    room.on('playout', (position) => this.#notePosition(position))
    // After a pause, media time continues where it was.
    room.on('utterance', () => (this.#mark = this.#position = null))
  }

  /** The errors since the last call. */
  take() {
    const errors = this.#errors
    this.#errors = { position: [], word: [] }
    return errors
  }

  /** The frame that leaves the output now. */
  get #heardFrame() {
    return this.#clock.frameAt(performance.now() - this.#room.stats().outputLatency)
  }

  /** Finds which mark this is: the one nearest to the position that was reported last. */
  #noteMark(frame, marks, length) {
    if (!this.#position) return
    const { playedTs, segment } = this.#position
    const offset = playedTs - segment.startTs + frame - this.#position.frame
    const distances = marks.flatMap((mark) => [mark - length, mark, mark + length]).map((mark) => mark - offset)
    const nearest = distances.reduce((best, distance) => (Math.abs(distance) < Math.abs(best) ? distance : best))
    this.#mark = { frame, ts: segment.startTs + offset + nearest }
  }

  #notePosition({ playedTs, segment, word }) {
    const frame = this.#heardFrame
    const { underruns } = this.#room.stats()
    // Playout stood still: what was heard since the mark is not known.
    if (underruns !== this.#underruns) this.#mark = null
    this.#underruns = underruns
    this.#position = { playedTs, segment, frame }
    if (!this.#mark || frame - this.#mark.frame > 1.5 * RATE) return
    const heard = this.#mark.ts + frame - this.#mark.frame
    this.#errors.position.push((playedTs - heard) / PER_MS)
    const key = `${segment.id} ${word}`
    if (word >= 0 && key !== this.#word) this.#errors.word.push((heard - segment.words[word].startTs) / PER_MS)
    this.#word = key
  }
}

// The subscribed tracks, by alias: frames find their track, and its figures outlive it.

import { SAMPLES_PER_MS } from './wire.js'

const COUNTED = ['framesReceived', 'framesLost', 'framesCleared']
const REPORTED = ['late', 'skipped', 'underruns']

export class ReceivedTracks {
  #open
  #tracks = new Map()
  // Sums over tracks that have ended.
  #ended = Object.fromEntries([...COUNTED, ...REPORTED].map((key) => [key, 0]))

  /** `open(alias)` returns the `ReceivedTrack` of a track that begins, or undefined if the room has no such track. */
  constructor(open) {
    this.#open = open
  }

  get(alias) {
    return this.#tracks.get(alias)
  }

  receive(frame) {
    const { alias } = frame
    if (!this.#tracks.has(alias)) {
      const track = this.#open(alias)
      if (!track) return
      this.#tracks.set(alias, track)
    }
    this.#tracks.get(alias).receive(frame)
  }

  end(alias) {
    const track = this.#tracks.get(alias)
    if (!track) return
    this.#tracks.delete(alias)
    for (const key of COUNTED) this.#ended[key] += track[key]
    for (const key of REPORTED) this.#ended[key] += track.report[key]
    track.close()
  }

  /** After a fresh join, tracks that go on are counted anew. */
  resync() {
    for (const track of this.#tracks.values()) track.resync()
  }

  close() {
    for (const track of this.#tracks.values()) track.close()
    this.#tracks.clear()
  }

  stats() {
    const tracks = [...this.#tracks.values()]
    const sum = (key, ofTrack) => tracks.reduce((total, track) => total + ofTrack(track), this.#ended[key])
    const most = (ofReport) => tracks.reduce((most, { report }) => Math.max(most, ofReport(report) ?? 0), 0)
    const [framesReceived, framesLost, framesCleared] = COUNTED.map((key) => sum(key, (track) => track[key]))
    const [framesLate, skipped, underruns] = REPORTED.map((key) => sum(key, ({ report }) => report[key]))
    return {
      jitter: most(({ jitter }) => jitter), playoutDelay: most(({ delay }) => delay), buffered: most(({ buffered }) => buffered / SAMPLES_PER_MS),
      framesReceived, framesLost, framesCleared, framesLate, skipped, underruns,
    }
  }
}

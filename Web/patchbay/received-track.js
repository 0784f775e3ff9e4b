// A subscribed track: epochs and losses, decoding, playing, and the playout reports of `ahead` tracks (docs/protocol/media.md).

import { decoderConfiguration } from './codecs.js'
import { SAMPLES_PER_MS, TimestampUnwrapper, distance, flag } from './wire.js'

const PROGRESS_INTERVAL_MS = 200
// A level is that of the newest frame, for this long.
const LEVEL_LIFETIME_MS = 300
// After a resume a few frames are repeated. What seems to be further back comes after a long gap.
const REPEATED_MAX = 1000

/**
 * The owner provides:
 *   progress(report)     a `playout.progress` to send
 *   heard(track, ts)     about 40 times a second while an `ahead` track plays: it was heard up to `ts`
 */
export class ReceivedTrack {
  framesReceived = 0
  framesLost = 0
  framesCleared = 0
  /** The worklet's last report. */
  report = { played: null, buffered: 0, delay: null, jitter: 0, late: 0, skipped: 0, underruns: 0 }
  #track
  #output
  #owner
  #player
  #decoder = null
  #decoding = []
  #timestamps = new TimestampUnwrapper()
  #lastSequence = null
  #epoch
  #isEpochNew = false
  #isSilenced = false
  #generation = 0
  #firstTs = null
  #lastProgress = -Infinity
  #lastLevel = { level: -127, at: -Infinity }
  #drainTimer = 0

  /**
   * @param {import('../patchbay.js').Track} track
   * @param {import('./output.js').AudioOutput} output
   * @param {number} startDelay in milliseconds
   * @param {{ progress: (report: object) => void, heard: (track: import('../patchbay.js').Track, ts: number) => void }} owner
   */
  constructor(track, output, startDelay, owner) {
    this.#track = track
    this.#output = output
    this.#owner = owner
    this.#epoch = track.epoch
    this.#player = output.createPlayer(output.bus(track.participant), {
      mode: track.mode, startDelay, report: (report) => this.#noteReport(report),
    })
  }

  get level() {
    return performance.now() - this.#lastLevel.at < LEVEL_LIFETIME_MS ? this.#lastLevel.level : -127
  }

  receive(frame) {
    const ahead = distance(frame.epoch, this.#epoch, 8)
    // Cleared frames may arrive after the clear.
    if (ahead < 0 || (ahead === 0 && this.#isSilenced)) return
    if (ahead > 0) this.clear(frame.epoch)
    if (!this.#noteSequence(frame.sequence)) return
    this.framesReceived++
    this.#lastLevel = { level: frame.level, at: performance.now() }
    const ts = this.#timestamps.unwrap(frame.timestamp)
    // What is not heard is not kept.
    if (!this.#output.isRunning) return
    this.#firstTs ??= ts
    this.#decode(ts, frame)
  }

  /** After a fresh join, a track that goes on is counted anew. */
  resync() {
    this.#lastSequence = null
  }

  /** Starts a new epoch: discards everything that has not been played. */
  clear(epoch) {
    if (distance(epoch, this.#epoch, 8) <= 0) return
    this.#epoch = epoch
    this.#isEpochNew = true
    this.#isSilenced = false
    this.#discard()
    if (this.#track.mode === 'ahead') this.#sendProgress(null, 0)
  }

  /** Plays nothing more of this epoch, before the gateway confirms a clear. */
  silence() {
    const { played } = this.report
    if (played !== null && this.#firstTs !== null) this.#noteHeard(played - this.#output.latency * SAMPLES_PER_MS, 0, true)
    this.#isSilenced = true
    this.#discard()
  }

  /** The clear was refused. */
  unsilence() {
    this.#isSilenced = false
  }

  #discard() {
    this.#closeDecoder()
    this.#player.clear(++this.#generation)
    this.#firstTs = null
    clearTimeout(this.#drainTimer)
  }

  close() {
    clearTimeout(this.#drainTimer)
    this.#closeDecoder()
    this.#player.close()
  }

  /** Counts what is missing. Returns false for a repeated frame. */
  #noteSequence(sequence) {
    const step = this.#lastSequence === null ? 1 : distance(sequence, this.#lastSequence, 16)
    if (step <= 0 && step > -REPEATED_MAX) return false
    const missing = Math.max(0, step - 1)
    this.#lastSequence = sequence
    if (this.#isEpochNew) this.framesCleared += missing
    else this.framesLost += missing
    this.#isEpochNew = false
    return true
  }

  #decode(ts, { packet, flags }) {
    this.#decoder ??= this.#openDecoder()
    // Decoders rewrite timestamps, so each output is matched with its packet by order. Single packets of comfort noise between
    // silence would tick.
    this.#decoding.push({ ts, isPlayed: (flags & flag.dtx) === 0 })
    this.#decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: Math.round((ts * 1000) / SAMPLES_PER_MS), data: packet }))
  }

  #openDecoder() {
    const decoder = new AudioDecoder({
      output: (data) => {
        const expected = this.#decoding.shift()
        if (expected?.isPlayed && decoder === this.#decoder) this.#play(expected.ts, data)
        data.close()
      },
      // A packet that cannot be decoded: the next one starts with a new decoder.
      error: () => {
        if (decoder === this.#decoder) this.#closeDecoder()
      },
    })
    decoder.configure(decoderConfiguration(this.#track.channels))
    return decoder
  }

  #play(ts, data) {
    const samples = this.#output.takeSamples(data.numberOfFrames)
    copyMono(data, samples)
    this.#player.play(ts, samples)
  }

  #closeDecoder() {
    if (this.#decoder && this.#decoder.state !== 'closed') this.#decoder.close()
    this.#decoder = null
    this.#decoding = []
  }

  #noteReport(report) {
    // It crossed a clear.
    if (report.generation !== this.#generation) return
    this.report = report
    if (this.#track.mode !== 'ahead' || report.played === null || this.#firstTs === null) return
    const latency = this.#output.latency
    this.#noteHeard(report.played - latency * SAMPLES_PER_MS, report.buffered / SAMPLES_PER_MS + latency, false)
    clearTimeout(this.#drainTimer)
    if (report.buffered === 0) this.#drainTimer = setTimeout(() => this.#noteHeard(report.played, 0, true), latency)
  }

  /** `isDrained`: everything that was received has been heard. */
  #noteHeard(ts, buffered, isDrained) {
    if (ts > this.#firstTs) this.#owner.heard(this.#track, Math.round(ts) >>> 0)
    const now = performance.now()
    // Reports come every 24 ms: the one nearest to the interval is sent.
    if (!isDrained && now - this.#lastProgress < PROGRESS_INTERVAL_MS - 12) return
    this.#sendProgress(ts > this.#firstTs ? Math.round(ts) : null, buffered)
  }

  #sendProgress(ts, buffered) {
    this.#lastProgress = performance.now()
    this.#owner.progress({
      track: this.#track.sid, epoch: this.#epoch, played_ts: ts === null ? null : ts >>> 0, buffered_ms: Math.min(60000, Math.round(buffered)),
    })
  }
}

function copyMono(data, samples) {
  data.copyTo(samples, { planeIndex: 0, format: 'f32-planar' })
  if (data.numberOfChannels > 1) {
    const other = new Float32Array(data.numberOfFrames)
    data.copyTo(other, { planeIndex: 1, format: 'f32-planar' })
    for (let index = 0; index < samples.length; index++) samples[index] = (samples[index] + other[index]) / 2
  }
}

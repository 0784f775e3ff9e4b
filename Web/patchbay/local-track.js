// One track that this page publishes: its publication at the gateway, its mutes, and its frames.

import { DEFAULT_BITRATE } from './codecs.js'
import { FRAME_SAMPLES, HEADER_BYTES, encodeFrame, flag } from './wire.js'

// Audio that may wait in the socket's buffer; more would only arrive too late.
const MAX_BUFFERED_MS = 200
// Of a frame's message: WebSocket header with mask.
const MESSAGE_OVERHEAD_BYTES = 8

export class LocalTrack {
  /** What captures it; null while it is off. */
  capture = null
  framesSent = 0
  framesDropped = 0
  #participant
  #connection
  #name
  #dtx
  #bitrate = DEFAULT_BITRATE
  // What the user wants; `#publication.muted` is what the gateway does. They differ while a request is under way, and if others mute.
  #isMuted = false
  #mutesPending = 0
  #publication = null
  // A lost connection swallowed a change of mute.
  #isMuteDue = false
  #sequence = 0
  #timestamp = 0
  #firstTimestamp = null
  #isStartDue = false

  /** `participant` has `tracks`, and `held`: whether nothing may be sent. `dtx`: whether silence is not sent. */
  constructor(participant, connection, { name, dtx = true }) {
    this.#participant = participant
    this.#connection = connection
    this.#name = name
    this.#dtx = dtx
  }

  get name() {
    return this.#name
  }

  /** Empty while it is not published. */
  get sid() {
    return this.#publication?.sid ?? ''
  }

  get isPublished() {
    return this.#publication !== null
  }

  get muted() {
    return this.#isMuted || (this.#mutesPending === 0 && this.#publication?.muted === true)
  }

  get level() {
    return this.capture && !this.muted ? this.capture.level : -127
  }

  /** Takes an open capture in place of an earlier one. */
  start(capture, bitrate = DEFAULT_BITRATE) {
    this.capture?.close()
    this.capture = capture
    this.#bitrate = bitrate
    // Timestamps continue across devices.
    this.#firstTimestamp = null
  }

  /** Stops capturing. */
  stop() {
    this.capture?.close()
    this.capture = null
  }

  /** Stops everything; nothing is sent. */
  close() {
    this.stop()
    this.#publication = null
    this.#isMuteDue = false
  }

  /** Without a connection, the next `hello` repeats it. */
  async publish() {
    try {
      const { track } = await this.#connection.request('track.publish', {
        name: this.#name, source: 'microphone', mode: 'live', frame_ms: 20, dtx: this.#dtx,
      })
      this.adopt(track)
      if (this.#isMuted) await this.#connection.request('track.mute', { track: track.sid, muted: true })
    } catch (error) {
      this.#isMuteDue = this.#isMuted
      if (error.code !== 'connection_lost') throw error
    }
  }

  /** Returns the sid that the gateway still has to be told, because the connection was lost; null if it knows. */
  async unpublish() {
    const { sid } = this
    this.#publication = null
    if (!sid) return null
    this.#participant.tracks.delete(sid)
    try {
      await this.#connection.request('track.unpublish', { track: sid })
      return null
    } catch (error) {
      if (error.code !== 'connection_lost') throw error
      return sid
    }
  }

  /** The gateway ended the publication. */
  noteUnpublished() {
    this.#publication = null
  }

  async setMuted(muted) {
    const wasMuted = this.#isMuted
    this.#isMuted = muted
    const publication = this.#publication
    if (!publication) return
    this.#mutesPending++
    try {
      await this.#connection.request('track.mute', { track: publication.sid, muted })
      // The event follows; those of earlier requests have arrived.
      if (this.#mutesPending === 1) publication.muted = muted
    } catch (error) {
      // The next `hello` repeats it.
      if (error.code === 'connection_lost') this.#isMuteDue = true
      else {
        if (this.#isMuted === muted) this.#isMuted = wasMuted
        throw error
      }
    } finally {
      this.#mutesPending--
    }
  }

  adopt(publication) {
    this.#publication = publication
    this.#participant.tracks.set(publication.sid, publication)
  }

  /** After a `hello`: goes on with the publication that the gateway kept, or is to be published again if it is null. */
  resume(kept) {
    const { sid } = this
    const isMuteDue = this.#isMuteDue
    this.#publication = null
    this.#isMuteDue = false
    this.#isStartDue = true
    if (!kept) return
    this.adopt(kept)
    // What others have muted stays so.
    if ((isMuteDue || kept.sid !== sid) && kept.muted !== this.#isMuted) this.setMuted(this.#isMuted).catch(() => {})
  }

  send({ timestamp, level, voice, flags, packet }) {
    if (this.#firstTimestamp === null) this.#firstTimestamp = timestamp - this.#timestamp - FRAME_SAMPLES
    this.#timestamp = timestamp - this.#firstTimestamp
    if (!this.#publication || this.muted || this.#participant.held || !this.#connection.isOpen) {
      this.#isStartDue = true
      return
    }
    const frames = MAX_BUFFERED_MS / 20
    const limit = (this.#bitrate / 8) * (MAX_BUFFERED_MS / 1000) + frames * (HEADER_BYTES + MESSAGE_OVERHEAD_BYTES)
    const sequence = this.#sequence++
    if (this.#connection.bufferedAmount > limit) {
      this.framesDropped++
      this.#isStartDue ||= (flags & flag.start) !== 0
      return
    }
    if (this.#isStartDue && voice) {
      flags |= flag.start
      this.#isStartDue = false
    }
    const { alias, epoch } = this.#publication
    this.#connection.sendMedia(encodeFrame({ alias, sequence, timestamp: this.#timestamp, level, voice, flags, epoch }, packet))
    this.framesSent++
  }
}

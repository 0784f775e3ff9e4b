// The page's own participant: publishes the microphone, mutes, hold.

import { MicrophoneError } from './events.js'
import { DEFAULT_BITRATE, Microphone } from './microphone.js'
import { newParticipant } from './room-state.js'
import { HEADER_BYTES, encodeFrame, flag } from './wire.js'

// Audio that may wait in the socket's buffer; more would only arrive too late.
const MAX_BUFFERED_MS = 200
// Of a frame's message: WebSocket header with mask.
const MESSAGE_OVERHEAD_BYTES = 8

export class LocalParticipant {
  framesSent = 0
  framesDropped = 0
  #connection
  #output
  #microphoneEnded
  #microphone = null
  #options = {}
  #isEnabled = false
  // What the user wants; `#publication.muted` is what the gateway does. They differ while a request is under way, and if others mute.
  #isMuted = false
  #mutesPending = 0
  #publication = null
  // Requests that a lost connection swallowed: a change of mute, and the sid of a track to unpublish.
  #isMuteDue = false
  #unpublishDue = null
  #sequence = 0
  #timestamp = 0
  #isStartDue = false
  // Changes of the microphone happen one after the other.
  #changes = Promise.resolve()
  #ending = new AbortController()

  constructor(connection, output, microphoneEnded) {
    Object.assign(this, newParticipant(), { sid: '', identity: '', name: '', kind: 'standard', metadata: '', attributes: {} })
    this.#connection = connection
    this.#output = output
    this.#microphoneEnded = microphoneEnded
  }

  get microphoneEnabled() {
    return this.#isEnabled
  }

  get muted() {
    return this.#isMuted || (this.#mutesPending === 0 && this.#publication?.muted === true)
  }

  get level() {
    return this.#microphone && !this.muted ? this.#microphone.level : -127
  }

  setMicrophoneEnabled(enabled, options = this.#options) {
    const { signal } = this.#ending
    return this.#enqueue(() => (enabled ? this.#enable(options, signal) : this.#disable()))
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

  async setHeld(held) {
    await this.#connection.request('call.hold', { held })
  }

  async update(changes) {
    await this.#connection.request('participant.update', changes)
  }

  #enqueue(change) {
    const result = this.#changes.then(change)
    this.#changes = result.catch(() => {})
    return result
  }

  async #enable(options, signal) {
    if (signal.aborted) throw new MicrophoneError('cancelled', 'The call has ended.')
    const microphone = new Microphone(this.#output, {
      identity: this.identity,
      frame: (frame) => microphone === this.#microphone && this.#send(frame),
      ended: (reason) => microphone === this.#microphone && this.#lostMicrophone(reason),
    })
    await microphone.open(options, signal)
    this.#microphone?.close()
    this.#microphone = microphone
    this.#options = options
    this.#isEnabled = true
    // Timestamps continue across devices.
    this.#firstTimestamp = null
    if (this.#connection.isOpen && !this.#publication) await this.#publish()
  }

  async #disable() {
    this.#isEnabled = false
    this.#microphone?.close()
    this.#microphone = null
    const publication = this.#publication
    this.#publication = null
    if (!publication) return
    this.tracks.delete(publication.sid)
    try {
      await this.#connection.request('track.unpublish', { track: publication.sid })
    } catch (error) {
      if (error.code !== 'connection_lost') throw error
      this.#unpublishDue = publication.sid
    }
  }

  async #publish() {
    try {
      const { track } = await this.#connection.request('track.publish', {
        name: 'microphone', source: 'microphone', mode: 'live', frame_ms: 20, dtx: true,
      })
      this.#adopt(track)
      if (this.#isMuted) await this.#connection.request('track.mute', { track: track.sid, muted: true })
    } catch (error) {
      // The next `hello` repeats it.
      this.#isMuteDue = this.#isMuted
      if (error.code === 'connection_lost') return
      this.#isEnabled = false
      this.#microphone?.close()
      this.#microphone = null
      if (error.code === 'not_allowed') throw new MicrophoneError('failed', 'The token does not allow speaking in this room.')
      throw error
    }
  }

  #adopt(track) {
    this.#publication = track
    this.tracks.set(track.sid, track)
  }

  /** After each `hello`: publishes what the gateway does not know. */
  reconnected(tracks = []) {
    const sid = this.#publication?.sid
    const isMuteDue = this.#isMuteDue
    const unpublishDue = this.#unpublishDue
    this.#publication = this.#unpublishDue = null
    this.#isMuteDue = false
    this.tracks.clear()
    if (tracks.some((track) => track.sid === unpublishDue)) this.#connection.request('track.unpublish', { track: unpublishDue }).catch(() => {})
    if (!this.#isEnabled) return
    const kept = tracks.find((track) => track.sid === sid) ?? tracks.find((track) => track.source === 'microphone' && track.sid !== unpublishDue)
    this.#isStartDue = true
    if (kept) {
      this.#adopt(kept)
      // What others have muted stays so.
      if ((isMuteDue || kept.sid !== sid) && kept.muted !== this.#isMuted) this.setMuted(this.#isMuted).catch(() => {})
    } else this.#enqueue(() => this.#isEnabled && !this.#publication && this.#publish()).catch((error) => this.#microphoneEnded(error.message))
  }

  /** After the event that a track was unpublished: an own one, by others. */
  noteUnpublished(track) {
    if (track.sid !== this.#publication?.sid) return
    this.#publication = null
    this.#lostMicrophone('The gateway ended the track.')
  }

  /** Stops everything; nothing is sent. */
  close() {
    this.#ending.abort()
    this.#ending = new AbortController()
    this.#isEnabled = this.#isMuteDue = false
    this.#publication = this.#unpublishDue = null
    this.#microphone?.close()
    this.#microphone = null
    this.tracks.clear()
  }

  #lostMicrophone(reason) {
    const lost = this.#microphone
    this.#enqueue(async () => {
      // Another one may have been chosen meanwhile.
      if (this.#microphone !== lost || !lost) return
      this.#microphoneEnded(reason)
      await this.#disable()
    }).catch(() => {})
  }

  #firstTimestamp = null

  #send({ timestamp, level, voice, flags, packet }) {
    if (this.#firstTimestamp === null) this.#firstTimestamp = timestamp - this.#timestamp - 960
    this.#timestamp = timestamp - this.#firstTimestamp
    if (!this.#publication || this.muted || this.held || !this.#connection.isOpen) {
      this.#isStartDue = true
      return
    }
    const bitrate = this.#options.bitrate ?? DEFAULT_BITRATE
    const frames = MAX_BUFFERED_MS / 20
    const limit = (bitrate / 8) * (MAX_BUFFERED_MS / 1000) + frames * (HEADER_BYTES + MESSAGE_OVERHEAD_BYTES)
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
    this.#connection.sendMedia(
      encodeFrame({ alias: this.#publication.alias, sequence, timestamp: this.#timestamp, level, voice, flags, epoch: this.#publication.epoch }, packet))
    this.framesSent++
  }
}

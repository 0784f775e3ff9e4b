// The page's own participant: publishes the microphone and tracks of the page, mutes, hold.

import { AudioCapture } from './audio-capture.js'
import { MicrophoneError } from './events.js'
import { LocalTrack } from './local-track.js'
import { Participant } from './room-state.js'

/**
 * @typedef {import('../patchbay.js').LocalParticipant} DeclaredLocalParticipant
 * @implements {DeclaredLocalParticipant}
 */
export class LocalParticipant extends Participant {
  #connection
  #output
  #owner
  #microphone
  /** @type {import('../patchbay.js').MicrophoneOptions} */
  #options = {}
  #isEnabled = false
  // By the page's `MediaStreamTrack`.
  #published = new Map()
  // Frames of tracks that are no longer published.
  #ended = { framesSent: 0, framesDropped: 0 }
  // Tracks that the gateway still has to unpublish, because a lost connection swallowed the request.
  #unpublishDue = new Set()
  // Changes happen one after the other.
  /** @type {Promise<unknown>} */
  #changes = Promise.resolve()
  #ending = new AbortController()

  /** `owner` is told of `microphoneEnded(reason)` and `localTrackEnded(track, reason)`. */
  constructor(connection, output, owner) {
    super()
    this.#connection = connection
    this.#output = output
    this.#owner = owner
    this.#microphone = new LocalTrack(this, connection, { name: 'microphone' })
  }

  get microphoneEnabled() {
    return this.#isEnabled
  }

  get muted() {
    return this.#microphone.muted
  }

  get level() {
    return Math.max(...this.#locals.map(({ level }) => level))
  }

  get framesSent() {
    return this.#ended.framesSent + this.#locals.reduce((sum, { framesSent }) => sum + framesSent, 0)
  }

  get framesDropped() {
    return this.#ended.framesDropped + this.#locals.reduce((sum, { framesDropped }) => sum + framesDropped, 0)
  }

  get #locals() {
    return [this.#microphone, ...this.#published.values()]
  }

  /** @param {import('../patchbay.js').MicrophoneOptions} options */
  setMicrophoneEnabled(enabled, options = this.#options) {
    const { signal } = this.#ending
    return this.#enqueue(() => (enabled ? this.#enable(options, signal) : this.#disable()))
  }

  setMuted(muted) {
    return this.#microphone.setMuted(muted)
  }

  /**
   * @param {MediaStreamTrack} track
   * @param {import('../patchbay.js').PublishOptions} options
   */
  publishTrack(track, options = {}) {
    const { signal } = this.#ending
    return this.#enqueue(() => this.#publishTrack(track, options, signal))
  }

  unpublishTrack(track) {
    return this.#enqueue(() => this.#unpublishTrack(track))
  }

  async setHeld(held) {
    await this.#connection.request('call.hold', { held })
  }

  async update(changes) {
    await this.#connection.request('participant.update', changes)
  }

  /**
   * @template Result
   * @param {() => Result | Promise<Result>} change
   * @returns {Promise<Result>}
   */
  #enqueue(change) {
    const result = this.#changes.then(change)
    this.#changes = result.catch(() => {})
    return result
  }

  /** A capture for `local`; `lost` gets the reason if it ends by itself. */
  #capture(local, lost) {
    const capture = new AudioCapture(this.#output, {
      identity: this.identity,
      frame: (frame) => capture === local.capture && local.send(frame),
      ended: (reason) => capture === local.capture && lost(reason),
    })
    return capture
  }

  async #enable(options, signal) {
    if (signal.aborted) throw new MicrophoneError('cancelled', 'The call has ended.')
    const capture = this.#capture(this.#microphone, (reason) => this.#lostMicrophone(reason))
    await capture.openMicrophone(options, signal)
    this.#microphone.start(capture, options.bitrate)
    this.#options = options
    this.#isEnabled = true
    if (this.#connection.isOpen && !this.#microphone.isPublished) await this.#publishMicrophone()
  }

  async #disable() {
    this.#isEnabled = false
    this.#microphone.stop()
    await this.#unpublish(this.#microphone)
  }

  async #publishMicrophone() {
    try {
      await this.#microphone.publish()
    } catch (error) {
      this.#isEnabled = false
      this.#microphone.stop()
      throw explained(error)
    }
  }

  /**
   * @param {MediaStreamTrack} track
   * @param {import('../patchbay.js').PublishOptions} options
   * @param {AbortSignal} signal
   */
  async #publishTrack(track, { name = track.label, bitrate, dtx = true }, signal) {
    if (signal.aborted) throw new MicrophoneError('cancelled', 'The call has ended.')
    if (track.kind !== 'audio') throw new TypeError('only tracks of audio can be published')
    if (track.readyState === 'ended') throw new MicrophoneError('failed', 'The track has ended.')
    if (this.#published.has(track)) throw new Error('The track is already published.')
    const local = new LocalTrack(this, this.#connection, { name, dtx })
    const capture = this.#capture(local, (reason) => this.#lostTrack(track, local, reason))
    await capture.openTrack(track, { bitrate, dtx }, signal)
    local.start(capture, bitrate)
    this.#published.set(track, local)
    if (!this.#connection.isOpen) return local
    try {
      await local.publish()
    } catch (error) {
      this.#forget(track, local)
      throw explained(error)
    }
    return local
  }

  async #unpublishTrack(track) {
    const local = this.#published.get(track)
    if (!local) return
    local.stop()
    this.#published.delete(track)
    this.#count(local)
    await this.#unpublish(local)
  }

  async #unpublish(local) {
    const due = await local.unpublish()
    if (due) this.#unpublishDue.add(due)
  }

  #forget(track, local) {
    local.close()
    this.#published.delete(track)
    this.#count(local)
  }

  #count({ framesSent, framesDropped }) {
    this.#ended.framesSent += framesSent
    this.#ended.framesDropped += framesDropped
  }

  /** After each `hello`: publishes what the gateway does not know. */
  reconnected(tracks = []) {
    const due = this.#unpublishDue
    this.#unpublishDue = new Set()
    this.tracks.clear()
    for (const { sid } of tracks) if (due.has(sid)) this.#connection.request('track.unpublish', { track: sid }).catch(() => {})
    const unclaimed = new Map(tracks.filter(({ sid }) => !due.has(sid)).map((track) => [track.sid, track]))
    const found = new Map()
    const claim = (local, track) => {
      if (!track) return
      unclaimed.delete(track.sid)
      found.set(local, track)
    }
    const active = this.#locals.filter(({ capture }) => capture !== null)
    // First those whose sid is known, so that none takes another's. The reply to a request may have been lost: then the name tells.
    for (const local of active) claim(local, unclaimed.get(local.sid))
    for (const local of active) if (!found.has(local)) claim(local, [...unclaimed.values()].find(({ name, source }) => name === local.name && source === 'microphone'))
    for (const local of this.#locals) {
      local.resume(found.get(local) ?? null)
      if (local.capture && !local.isPublished) this.#republish(local)
    }
  }

  #republish(local) {
    if (local === this.#microphone) {
      this.#enqueue(() => this.#isEnabled && !local.isPublished && this.#publishMicrophone()).catch((error) => this.#owner.microphoneEnded(error.message))
      return
    }
    const [track] = [...this.#published].find(([, one]) => one === local)
    this.#enqueue(() => this.#published.get(track) === local && !local.isPublished && local.publish()).catch((error) => {
      this.#forget(track, local)
      this.#owner.localTrackEnded(track, explained(error).message)
    })
  }

  /** After the event that a track was unpublished: an own one, by others. */
  noteUnpublished({ sid }) {
    const reason = 'The gateway ended the track.'
    if (this.#microphone.isPublished && this.#microphone.sid === sid) {
      this.#microphone.noteUnpublished()
      this.#lostMicrophone(reason)
    }
    for (const [track, local] of this.#published) {
      if (!local.isPublished || local.sid !== sid) continue
      local.noteUnpublished()
      this.#lostTrack(track, local, reason)
    }
  }

  /** Stops everything; nothing is sent. Tracks of the page go on. */
  close() {
    this.#ending.abort()
    this.#ending = new AbortController()
    this.#isEnabled = false
    this.#microphone.close()
    for (const [track, local] of this.#published) this.#forget(track, local)
    this.#unpublishDue.clear()
    this.tracks.clear()
  }

  #lostMicrophone(reason) {
    const lost = this.#microphone.capture
    this.#enqueue(async () => {
      // Another one may have been chosen meanwhile.
      if (this.#microphone.capture !== lost || !lost) return
      this.#owner.microphoneEnded(reason)
      await this.#disable()
    }).catch(() => {})
  }

  #lostTrack(track, local, reason) {
    this.#enqueue(async () => {
      if (this.#published.get(track) !== local) return
      this.#owner.localTrackEnded(track, reason)
      await this.#unpublishTrack(track)
    }).catch(() => {})
  }
}

function explained(error) {
  return error.code === 'not_allowed' ? new MicrophoneError('failed', 'The token does not allow speaking in this room.') : error
}

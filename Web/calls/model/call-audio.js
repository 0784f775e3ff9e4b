// The audio of one call: its room, its microphone, and their problems.

import { Room } from '../../patchbay.js'
import { PROMPT_MS } from '../../shared/waits.js'
import { DIGITS_SHOWN } from './state.js'
import { store } from './store.js'

export class CallAudio {
  #room = new Room()
  #id = null
  #isClosed = false

  /** Create it in the handler of a gesture, so that the browser plays audio. */
  constructor() {
    // Rejects if the browser requires another gesture, which `audioBlocked` reports.
    this.#room.startAudio().catch(() => {})
  }

  /** Joins the call's room and publishes the microphone. */
  async connect(id, url, token) {
    this.#id = id
    const note = (values) => this.#isClosed || store.dispatch('audio', { id, values })
    const tell = (key, code, message) => this.#isClosed || store.dispatch('problem.add', { key, code, message })
    const settle = (key) => this.#isClosed || store.dispatch('problem.remove', { key })
    this.#room
      .on('state', (room) => {
        if (room === 'disconnected') return
        note({ room })
        if (room === 'reconnecting') tell('room', 'reconnecting')
        if (room === 'connected') settle('room')
      })
      .on('audioBlocked', (reason) => tell('audio', reason))
      .on('audioStarted', () => settle('audio'))
      .on('microphoneEnded', (reason) => {
        note({ microphone: 'off' })
        tell('microphone', 'ended', reason)
      })
      .on('dtmf', ({ digits }) => note({ heardDigits: ((store.state.audio[id]?.heardDigits ?? '') + digits).slice(-DIGITS_SHOWN) }))
      .on('disconnected', ({ code }) => {
        note({ room: 'lost' })
        // With these codes, the channel reports the ending: the room was closed, or another device has joined.
        if (![1000, 4102, 4103, 4104].includes(code)) tell('room', 'lost')
      })
    await this.#room.connect(url, token)
    if (this.#isClosed) return this.#room.disconnect()
    if (this.#room.audioBlocked) tell('audio', this.#room.audioBlockage)
    // A permission prompt for the microphone must not delay the call.
    this.enableMicrophone()
  }

  async enableMicrophone() {
    const id = this.#id
    const note = (microphone) => this.#isClosed || store.dispatch('audio', { id, values: { microphone } })
    const tell = (code, message) => this.#isClosed || store.dispatch('problem.add', { key: 'microphone', code, message })
    note('waiting')
    const timer = setTimeout(() => tell('waiting'), PROMPT_MS)
    try {
      await this.#room.localParticipant.setMicrophoneEnabled(true)
      note('on')
      if (!this.#isClosed) store.dispatch('problem.remove', { key: 'microphone' })
    } catch (error) {
      note('off')
      if (error.code !== 'cancelled') tell(error.code, error.message)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The highest level of the other participants, -127 to 0. */
  get level() {
    return Math.max(-127, ...[...this.#room.remoteParticipants.keys()].map((identity) => this.#room.level(identity)))
  }

  /** Passes the played audio to `listener`, 20 ms at a time, for checks and waveforms. Returns a function that stops it. */
  tap(listener) {
    return this.#room.tap(null, listener)
  }

  sendDigit(digit) {
    return this.#room.sendDTMF(digit)
  }

  startAudio() {
    return this.#room.startAudio().catch(() => {})
  }

  close() {
    this.#isClosed = true
    this.#room.disconnect()
  }
}

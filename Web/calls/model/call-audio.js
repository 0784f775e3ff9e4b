// The audio of one call: its room, the microphone in it, and what goes wrong with them.

import { Room } from '../../patchbay.js'
import { PROMPT_MS } from '../../shared/waits.js'
import { DIGITS_SHOWN } from './state.js'
import { store } from './store.js'

export class CallAudio {
  #room = new Room()
  #id = null
  #isClosed = false

  /** Must be made in the handler of a gesture, so that the browser plays sound. */
  constructor() {
    // Rejects where the browser wants another gesture, which `audioBlocked` reports.
    this.#room.startAudio().catch(() => {})
  }

  /** Joins the call's room with the microphone. */
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
        // Otherwise the channel tells how the call ended: the room was closed, or another device has joined it.
        if (![1000, 4102, 4103, 4104].includes(code)) tell('room', 'lost')
      })
    await this.#room.connect(url, token)
    if (this.#isClosed) return this.#room.disconnect()
    if (this.#room.audioBlocked) tell('audio', this.#room.audioBlockage)
    // A browser that asks for the microphone does not keep the call waiting.
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

  /** The loudest of the others, -127 to 0. */
  get level() {
    return Math.max(-127, ...[...this.#room.remoteParticipants.keys()].map((identity) => this.#room.level(identity)))
  }

  /** For checks and waveforms: 20 ms of what is played at a time. Returns a function that stops it. */
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

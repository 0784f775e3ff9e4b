// The phone: owns the channel of patchbay.js and the audio of each call. Views control calls through it.

import { CallChannel } from '../../patchbay.js'
import { CallAudio } from './call-audio.js'
import { isAddress, titleOf } from './people.js'
import { callOf, joined, shownCall, talking } from './state.js'
import { store } from './store.js'

// How long a refused room waits for the channel to say that the call has ended.
const END_WAIT_MS = 3000

class Phone {
  /** @type {CallChannel | null} */
  #channel = null
  // `CallAudio` by call.
  #audio = new Map()
  // Calls whose rooms are being joined.
  #joining = new Set()
  // Calls that this page has ended, whose ending is not reported.
  #dropped = new Set()
  /** Called after each call. */
  onEnded = () => {}

  /** Opens the channel, unless there is one. `refused` is called if the login has ended. */
  async open(token, refused) {
    if (this.#channel) return
    const channel = new CallChannel()
    this.#channel = channel
    const on = (name, listener) => channel.on(name, (...values) => channel === this.#channel && listener(...values))
    on('state', (value) => this.#noteChannel(value))
    on('calls', (calls, elsewhere) => {
      store.dispatch('calls', { calls, elsewhere })
      this.#leaveOthers(calls)
    })
    on('ended', (call, how) => this.#noteEnd(call, how))
    const ended = (error) => {
      this.#channel = null
      store.dispatch('channel', { value: 'disconnected' })
      store.dispatch('problem.add', { key: 'channel', code: 'ended', message: error.message })
      refused(error.code === 4100 ? { ...error, status: 401 } : error)
    }
    on('disconnected', ended)
    try {
      await channel.connect(null, token)
    } catch (error) {
      if (channel === this.#channel) ended(error)
    }
  }

  /** Closes the channel and leaves the rooms of all calls. */
  close() {
    const channel = this.#channel
    this.#channel = null
    channel?.disconnect()
    for (const audio of this.#audio.values()) audio.close()
    this.#audio.clear()
  }

  // MARK: Calls. Start them in the handler of a gesture, so that the browser plays audio.

  /** Calls all of these addresses. Returns whether the gateway has accepted the call. */
  async call(addresses) {
    store.dispatch('problem.remove', { key: 'dial' })
    if (store.state.dialing) return false
    if (!addresses.every(isAddress)) return this.#refuse('dial', { code: 'invalid_address' })
    const audio = new CallAudio()
    store.dispatch('dialing', { address: addresses.join(', ') })
    try {
      await this.#holdingOthers(null, () => this.#dial(addresses, audio))
      return true
    } catch (error) {
      audio.close()
      return this.#refuse('dial', error)
    } finally {
      store.dispatch('dialing', { address: null })
    }
  }

  /** Answers a call. `ends`: ends the call in which the user talks, instead of holding it. */
  async answer(id, { ends = false } = {}) {
    const audio = new CallAudio()
    return this.#attempt(async () => {
      if (ends) await Promise.all(talking(store.state).map((call) => this.#drop(call.id)))
      await this.#holdingOthers(id, async () => this.#connect(await this.#requests.answer(id), audio))
    }, () => audio.close())
  }

  /** Continues a call of another device on this one, or a call whose room was lost. */
  async takeOver(id) {
    const audio = new CallAudio()
    return this.#attempt(async () => {
      await this.#holdingOthers(id, async () => {
        this.#audio.get(id)?.close()
        await this.#connect(await this.#requests.join(id), audio)
      })
    }, () => audio.close())
  }

  decline(id) {
    return this.#attempt(async () => {
      this.#dropped.add(id)
      await this.#requests.reject(id)
    }, () => this.#dropped.delete(id))
  }

  hangUp(id) {
    return this.#attempt(() => this.#drop(id))
  }

  async hangUpAll() {
    await Promise.all(joined(store.state).map(({ id }) => this.hangUp(id)))
  }

  /** Holds or resumes a call. Resuming one holds the call in which the user talks. */
  setHeld(id, isHeld) {
    return this.#attempt(async () => {
      if (isHeld) return this.#requests.hold(id, true)
      await this.#holdingOthers(id, () => this.#requests.hold(id, false))
      store.dispatch('show', { id })
    })
  }

  setMuted(id, isMuted) {
    return this.#attempt(() => this.#requests.mute(id, isMuted))
  }

  invite(id, address) {
    if (!isAddress(address)) return this.#refuse('invite', { code: 'invalid_address' })
    return this.#attempt(async () => {
      const before = callOf(store.state, id)
      const { call } = await this.#requests.request('call.invite', { call: id, to: [address] })
      const invited = call.members.filter(({ party }) => !before?.members.some((known) => known.party === party))
      if (invited.length === 1) store.dispatch('party.known', { party: invited[0].party, address })
    }, () => {}, 'invite')
  }

  sendDigit(digit) {
    const call = shownCall(store.state)
    if (!call || call.state === 'connecting') return
    store.dispatch('digit', { digit })
    return this.#attempt(() => this.#audio.get(call.id)?.sendDigit(digit))
  }

  startAudio() {
    for (const audio of this.#audio.values()) audio.startAudio()
  }

  enableMicrophone() {
    const call = shownCall(store.state)
    return call && this.#audio.get(call.id)?.enableMicrophone()
  }

  /** The audio of a call, for meters. Views must not change it. */
  audioOf(id) {
    return this.#audio.get(id) ?? null
  }

  // MARK: Inside

  get #requests() {
    if (!this.#channel) throw Object.assign(new Error('There is no connection.'), { code: 'connection_lost' })
    return this.#channel
  }

  async #drop(id) {
    this.#dropped.add(id)
    try {
      await this.#requests.hangUp(id)
    } catch (error) {
      // The call is over already, as intended.
      if (error.code === 'not_found' || error.code === 'conflict') return
      this.#dropped.delete(id)
      throw error
    }
  }

  /** Holds the other calls before an action, because a user talks in one call at a time. If the action fails, resumes them. */
  async #holdingOthers(id, action) {
    const held = []
    try {
      await Promise.all(active().filter((call) => call.id !== id).map(async (call) => {
        await this.#requests.hold(call.id, true)
        held.push(call.id)
      }))
      await action()
    } catch (error) {
      // Not if the user has resumed another call meanwhile.
      const resumed = active().some((call) => call.id !== id) ? [] : held.filter((one) => callOf(store.state, one))
      await Promise.all(resumed.map(async (one) => this.#requests.hold(one, false))).catch(() => {})
      throw error
    }
  }

  async #dial(addresses, audio) {
    const { settings, email } = store.state.user
    const callerName = settings.handle ? `@${settings.handle}` : email ?? ''
    const admission = await this.#requests.start(addresses, { callerName, idempotencyKey: crypto.randomUUID() })
    const { call } = admission
    // Members are in the order of the addresses, after the caller.
    const callees = call.members.slice(1)
    if (callees.length === addresses.length) callees.forEach(({ party }, index) => store.dispatch('party.known', { party, address: addresses[index] }))
    if (call.state !== 'ended') return this.#connect(admission, audio)
    audio.close()
    this.#noteEnd(call, call.ending)
  }

  async #connect({ call: { id }, url, token }, audio) {
    this.#audio.set(id, audio)
    this.#joining.add(id)
    try {
      await audio.connect(id, url, token)
    } catch (error) {
      // A call that has ended refuses its caller, and the channel may say so a moment later.
      if (await hasEnded(id)) return audio.close()
      this.#audio.delete(id)
      await this.#drop(id).catch(() => {})
      throw Object.assign(new Error(error.message), { code: 'room_failed' })
    } finally {
      this.#joining.delete(id)
    }
    if (!callOf(store.state, id)) audio.close()
  }

  /** Leaves the rooms of calls that are not on this device, such as those from before the channel was opened again. */
  #leaveOthers(calls) {
    const left = [...this.#audio.keys()].filter((id) => !this.#joining.has(id) && !calls.some((call) => call.id === id))
    for (const id of left) this.#closeAudio(id)
  }

  /** Leaves the room of a call that is over on this device, and removes its problems. */
  #closeAudio(id) {
    this.#audio.get(id)?.close()
    this.#audio.delete(id)
    // Problems of the room and the devices may be those of another call.
    if (joined(store.state).some((call) => call.id !== id)) return
    for (const key of ['room', 'microphone', 'audio']) store.dispatch('problem.remove', { key })
  }

  async #attempt(action, undo = () => {}, key = 'call') {
    store.dispatch('problem.remove', { key })
    try {
      await action()
      return true
    } catch (error) {
      undo()
      return this.#refuse(key, error)
    }
  }

  #refuse(key, { code, message = '' }) {
    // Logging out ends pending requests, which is no news for the next user.
    if (store.state.user) store.dispatch('problem.add', { key, code, message })
    return false
  }

  #noteChannel(value) {
    store.dispatch('channel', { value })
    if (value === 'reconnecting') store.dispatch('problem.add', { key: 'channel', code: 'reconnecting' })
    else if (value === 'connected') store.dispatch('problem.remove', { key: 'channel' })
  }

  #noteEnd(call, how) {
    this.#closeAudio(call.id)
    const isOwn = this.#dropped.delete(call.id)
    const isMissed = call.direction === 'incoming' && (how === 'unanswered' || how === 'cancelled') && !call.answeredAt
    const code = isMissed ? 'missed' : how
    // Not news: the user's own actions, and a call that another device declined.
    const isNews = code === 'completed' || (!isOwn && code !== 'cancelled' && !(call.direction === 'incoming' && (code === 'rejected' || code === 'busy')))
    const name = titleOf(call, store.state)
    const milliseconds = call.answeredAt && call.endedAt ? Number(call.endedAt) - Number(call.answeredAt) : null
    const parties = call.others.map(({ party }) => party)
    if (isNews) store.dispatch('problem.add', { key: isMissed ? 'missed' : 'ended', code, name, milliseconds, parties })
    this.onEnded()
  }
}

/** The calls in which the user talks. */
const active = () => talking(store.state).filter(({ state }) => state !== 'connecting')

/** Waits for the end of a call, at most for `END_WAIT_MS`. Returns whether it is over. */
function hasEnded(id) {
  const isOver = () => !callOf(store.state, id)
  if (isOver()) return true
  return new Promise((resolve) => {
    const finish = () => {
      stop()
      clearTimeout(timer)
      resolve(isOver())
    }
    const stop = store.subscribe(() => isOver() && finish())
    const timer = setTimeout(finish, END_WAIT_MS)
  })
}

export const phone = new Phone()

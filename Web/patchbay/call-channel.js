// The channel of a user, for receiving and controlling calls (docs/protocol/calls.md). `../patchbay.d.ts` documents it.

import { CallList } from './call-list.js'
import { Connection } from './connection.js'
import { endpoints } from './dial.js'
import { Emitter } from './events.js'

// The fraction of a token's lifetime after which a new one is requested.
const RENEWAL_PART = 0.8
const RENEWAL_RETRY_MS = 10_000
// The maximum delay of browser timers.
const TIMER_MAX_MS = 2 ** 31 - 1

const closings = {
  1000: 'The channel was closed.',
  4105: 'This page no longer receives calls: 16 newer devices of this account do.',
}

/**
 * @typedef {import('../patchbay.js').CallChannel} DeclaredCallChannel
 * @extends {Emitter<import('../patchbay.js').CallChannelEvents>}
 * @implements {DeclaredCallChannel}
 */
export class CallChannel extends Emitter {
  /** @type {import('../patchbay.js').RoomState} */
  #status = 'disconnected'
  #connection
  #list = new CallList()
  #device = null
  #token = null
  #renewalTimer = 0

  /** @param {import('../patchbay.js').CallChannelOptions} options */
  constructor({ reconnectAttempts = Infinity } = {}) {
    super()
    this.#connection = new Connection(
      {
        opened: (hello) => this.#opened(hello),
        message: (message) => this.#message(message),
        media: () => {},
        interrupted: () => this.#interrupted(),
        ended: (end) => this.#ended(end),
      },
      { endpoint: endpoints.channel, attempts: reconnectAttempts })
  }

  get state() { return this.#status }
  get user() { return this.#list.user }
  get device() { return this.#device }
  get calls() { return this.#list.calls }
  get callsElsewhere() { return this.#list.elsewhere }

  /**
   * @param {string | null} url
   * @param {string | import('../patchbay.js').TokenSource} token
   */
  async connect(url, token) {
    if (this.#status !== 'disconnected') throw new Error('The channel is already connected.')
    this.#token = token
    this.#setStatus('connecting')
    try {
      await this.#connection.open(url, token)
    } catch (error) {
      this.#setStatus('disconnected')
      throw error
    }
  }

  disconnect() {
    clearTimeout(this.#renewalTimer)
    this.#connection.close()
    // A pending `connect` reports its own failure.
    if (this.#status !== 'connecting') this.#setStatus('disconnected')
  }

  /**
   * @param {string[] | { conversation: string }} to
   * @param {import('../patchbay.js').CallOptions} options
   */
  start(to, { callerName, metadata, idempotencyKey } = {}) {
    const callees = Array.isArray(to) ? { to } : { conversation: to.conversation }
    return this.#admission('call.start', { ...callees, caller_name: callerName, metadata, idempotency_key: idempotencyKey })
  }

  answer(call) {
    return this.#admission('call.answer', { call })
  }

  join(call) {
    return this.#admission('call.join', { call })
  }

  /**
   * @param {string} call
   * @param {{ busy?: boolean, reason?: string }} options
   */
  async reject(call, { busy, reason } = {}) {
    await this.request('call.reject', { call, busy, reason })
  }

  async hangUp(call) {
    await this.request('call.hangup', { call })
  }

  async hold(call, held = true) {
    await this.request('call.hold', { call, held })
  }

  async mute(call, muted = true) {
    await this.request('call.mute', { call, muted })
  }

  async invite(call, to) {
    await this.request('call.invite', { call, to })
  }

  request(type, data = {}) {
    return this.#connection.request(type, data)
  }

  async #admission(type, data) {
    const { call, livekit_url: url, livekit_token: token } = await this.request(type, data)
    return { call: this.#list.admitted(call), url, token }
  }

  #setStatus(status) {
    if (status === this.#status) return
    this.#status = status
    this.emit('state', status)
  }

  #opened({ data }) {
    this.#device = data.device
    const updates = this.#list.begin(data)
    this.emit('event', { type: 'hello', data })
    this.#scheduleRenewal(data.expires_in)
    this.#setStatus('connected')
    this.#tell(updates, true)
  }

  #message(message) {
    const { type, data } = message
    this.emit('event', message)
    if (data?.call?.members) {
      const isHere = type === 'reply' && data.livekit_token !== undefined
      const kind = type === 'reply' || type === 'error' ? null : type
      const wasElsewhere = this.#isElsewhere(data.call.id)
      const updates = this.#list.apply(data.call, { isHere, event: kind })
      this.#tell(updates, wasElsewhere || this.#isElsewhere(data.call.id))
    }
    if (type.startsWith('session.')) this.emit('session', { type, session: data.session })
    if (type === 'conversation.event') this.emit('conversation', data.conversation, readEvent(data.event))
  }

  #isElsewhere(call) {
    return this.#list.elsewhere.some(({ id }) => id === call)
  }

  /** `isForced`: reports the lists even without updates, because calls on other devices may have changed. */
  #tell(updates, isForced = false) {
    for (const { type, call, event } of updates) {
      if (type === 'appeared' && call.direction === 'incoming' && call.state === 'connecting') this.emit('incoming', call)
      if (type === 'ended') this.emit('ended', call, call.ending)
      else this.emit('changed', call, event)
    }
    if (updates.length || isForced) this.emit('calls', this.calls, this.callsElsewhere)
  }

  #interrupted() {
    clearTimeout(this.#renewalTimer)
    this.#setStatus('reconnecting')
  }

  #ended({ code, reason, message, retryable }) {
    clearTimeout(this.#renewalTimer)
    this.#setStatus('disconnected')
    this.emit('disconnected', { code, reason, message: closings[code] ?? message, retryable })
  }

  #scheduleRenewal(seconds) {
    clearTimeout(this.#renewalTimer)
    if (typeof this.#token !== 'function' || seconds === undefined) return
    this.#renewalTimer = setTimeout(() => this.#renew(), Math.min(1000 * seconds * RENEWAL_PART, TIMER_MAX_MS))
  }

  async #renew() {
    try {
      const token = await this.#token({ isRefused: true })
      const { expires_in: seconds } = await this.request('token.renew', { token })
      this.#scheduleRenewal(seconds)
    } catch {
      // A channel that reconnects requests a token then.
      if (this.#status === 'connected') this.#renewalTimer = setTimeout(() => this.#renew(), RENEWAL_RETRY_MS)
    }
  }
}

/** @returns {import('../patchbay.js').ConversationEvent} */
function readEvent({ number = null, type, user, timestamp, text = null }) {
  return { number, type, user, timestamp: new Date(timestamp), text }
}

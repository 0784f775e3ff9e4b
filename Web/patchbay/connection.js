// The connection to the gateway: one WebSocket at a time, requests and replies, liveness, and resuming (docs/protocol).

import { dial, endpoints, gatewayAddress } from './dial.js'
import { ConnectError, RequestError, describeClosing } from './events.js'
import { ReconnectTargets } from './reconnect-targets.js'

// Before each attempt to reconnect; the last one repeats.
const BACK_OFF_MS = [0, 300, 1200, 2700, 4800, 7000]
// How long a ping may take after the network changed.
const PROBE_TIMEOUT_MS = 2000
// Defaults for fields of a room's `hello` that the `hello` of a user's channel lacks (docs/protocol/calls.md).
const UNANNOUNCED = { limits: { max_control_bytes: 65536 }, ping_interval_ms: 5000, ping_timeout_ms: 15000 }
const TOKEN_EXPIRED = 4100
const MOVED = 4005
// How long an attempt to reconnect may take if another node can be tried next.
const NODE_TIMEOUT_MS = 5000

/**
 * A connection that survives losses. The owner provides:
 *   opened(hello, isFresh)   after each `hello`; `isFresh` is false if the session was resumed
 *   message(message)         each event, in order, including `hello`; and each reply and error
 *   media(buffer)            each binary message
 *   interrupted()            the connection was lost and is being restored
 *   ended(code, reason)      it ended for good; not after `close()`
 */
export class Connection {
  rtt = null
  reconnects = 0
  #owner
  #targets
  #token
  // Whether the latest token of the source was refused.
  #isRefused = false
  #endpoint
  #query
  #attempts
  #socket = null
  #requests = new Map()
  #nextId = 1
  // Of a message to the gateway, in bytes.
  #maxBytes = Infinity
  #resumeToken = null
  #lastSeq = 0
  #bye = null
  #lastHeard = 0
  #pingSent = null
  #pingTimer = 0
  #probeTimer = 0
  #isClosed = true
  #dialing = null
  #wake = null

  constructor(owner, { endpoint = endpoints.room, autoSubscribe = true, attempts = 10 } = {}) {
    this.#owner = owner
    this.#endpoint = endpoint
    this.#query = autoSubscribe ? {} : { auto_subscribe: 'false' }
    this.#attempts = attempts
  }

  /** Whether messages reach the gateway. A socket that is closing discards them. */
  get isOpen() {
    return this.#writable !== null
  }

  /** Bytes that the browser has not passed to the network yet. */
  get bufferedAmount() {
    return this.#socket?.bufferedAmount ?? 0
  }

  /**
   * Connects and waits for `hello`. Rejects with `ConnectError`. `token`: a token, or a function that returns a promise of one. The function is called
   * for each connection, with `{isRefused: true}` if the gateway no longer accepts the last one.
   */
  async open(url, token) {
    const address = gatewayAddress(url)
    this.#targets = new ReconnectTargets(address)
    this.#token = token
    this.#isClosed = false
    this.#isRefused = false
    this.#resumeToken = null
    this.#lastSeq = 0
    try {
      await this.#dial(address)
    } catch (error) {
      this.#isClosed = true
      throw error
    }
    this.#watchNetwork(true)
  }

  /** Leaves. Nothing is reported afterwards. */
  close() {
    this.#isClosed = true
    this.#dialing?.abort()
    this.#wake?.()
    const socket = this.#socket
    this.#detach()
    socket?.close(1000)
  }

  /** Sends a request; resolves with the reply's data. */
  request(type, data = {}) {
    return new Promise((resolve, reject) => {
      if (!this.#socket) return reject(new RequestError('connection_lost', 'There is no connection.', true))
      const id = this.#nextId++
      const text = JSON.stringify({ type, id, data })
      // The gateway would end the connection.
      if (text.length * 3 > this.#maxBytes && new TextEncoder().encode(text).length > this.#maxBytes) {
        return reject(new RequestError('limit_exceeded', `A message to the gateway may have ${this.#maxBytes} bytes.`))
      }
      this.#requests.set(id, { resolve, reject })
      this.#socket.send(text)
    })
  }

  /** The socket unless it is closing or closed: browsers log an error on the console for each message sent on such a socket. */
  get #writable() {
    return this.#socket && this.#socket.readyState > 1 ? null : this.#socket
  }

  /** Sends a message that is not answered. */
  notify(type, data) {
    this.#writable?.send(JSON.stringify({ type, data }))
  }

  sendMedia(bytes) {
    this.#writable?.send(bytes)
  }

  /** `timeout`: in milliseconds; undefined for that of `dial`. */
  async #dial(address, timeout) {
    this.#bye = null
    this.#dialing = new AbortController()
    const resume = this.#resumeToken ? { resume: this.#resumeToken, last_seq: String(this.#lastSeq) } : {}
    const received = (message, socket) => {
      this.#noteEvent(message)
      if (message.type === 'hello') this.#attach(socket, message, address)
      else this.#owner.message(message)
    }
    const { signal } = this.#dialing
    const options = { endpoint: this.#endpoint, query: { ...this.#query, ...resume }, received, signal, timeout }
    if (typeof this.#token !== 'function') return dial(address, this.#token, options)
    const token = await this.#token({ isRefused: this.#isRefused })
    if (signal.aborted) throw new ConnectError('cancelled', 'The connection was cancelled.')
    try {
      await dial(address, token, options)
      this.#isRefused = false
    } catch (error) {
      if (this.#isRefused || (error.status !== 401 && error.closeCode !== TOKEN_EXPIRED)) throw error
      this.#isRefused = true
      await this.#dial(address, timeout)
    }
  }

  #attach(socket, hello, address) {
    this.#targets.connected(address, hello.data.nodes)
    const isFresh = hello.data.resumed !== true
    if (isFresh) this.#lastSeq = hello.seq
    this.#resumeToken = hello.data.resume_token
    const { limits, ping_interval_ms: interval, ping_timeout_ms: timeout } = Object.assign({}, UNANNOUNCED, hello.data)
    this.#maxBytes = limits.max_control_bytes
    // Replayed events may contain a `bye` of the old connection.
    this.#bye = null
    this.#socket = socket
    this.#lastHeard = performance.now()
    socket.onmessage = ({ data }) => this.#receive(data)
    socket.onclose = ({ code }) => this.#lost(code)
    this.#pingTimer = setInterval(() => this.#ping(timeout), interval)
    this.#owner.opened(hello, isFresh)
    if (socket !== this.#socket) return
    this.#ping(timeout)
  }

  #detach() {
    clearInterval(this.#pingTimer)
    clearTimeout(this.#probeTimer)
    this.#probeTimer = 0
    this.#pingSent = null
    if (this.#isClosed) this.#watchNetwork(false)
    if (this.#socket) this.#socket.onmessage = this.#socket.onclose = null
    this.#socket = null
    for (const { reject } of this.#requests.values()) {
      reject(new RequestError('connection_lost', 'The connection was lost before the answer arrived.', true))
    }
    this.#requests.clear()
  }

  #receive(data) {
    this.#lastHeard = performance.now()
    if (typeof data !== 'string') return this.#owner.media(data)
    const message = JSON.parse(data)
    this.#noteEvent(message)
    if (message.re != null) this.#settle(message)
    this.#owner.message(message)
  }

  #noteEvent({ type, seq, data }) {
    if (seq !== undefined) this.#lastSeq = seq
    if (type === 'bye') this.#bye = data
    if (type === 'token.refreshed') this.#token = data.token
  }

  #settle({ type, re, data }) {
    const request = this.#requests.get(re)
    this.#requests.delete(re)
    if (type === 'error') request?.reject(new RequestError(data.code, data.message, data.retryable))
    else request?.resolve(data)
  }

  #ping(timeout) {
    const now = performance.now()
    if (now - this.#lastHeard > timeout || (this.#pingSent !== null && now - this.#pingSent > timeout)) return this.#abandon()
    if (this.#pingSent !== null) return
    this.#pingSent = now
    this.request('ping', { t: Math.round(now) }).then(
      () => {
        this.rtt = performance.now() - now
        // The answer to an earlier ping says nothing about the network after its change.
        if (this.#pingSent !== now) return
        this.#pingSent = null
        clearTimeout(this.#probeTimer)
        this.#probeTimer = 0
      },
      () => {})
  }

  /** Gives up a socket that is silent, without waiting for its close. */
  #abandon() {
    const socket = this.#socket
    if (!socket) return
    this.#lost(4003)
    socket.close(3000)
  }

  // On a network change the old socket usually stays silent for minutes: verify it, and hurry a pending attempt.
  #networkChanged = () => {
    this.#wake?.()
    if (!this.#socket || this.#probeTimer) return
    this.#probeTimer = setTimeout(() => this.#abandon(), PROBE_TIMEOUT_MS)
    this.#pingSent = null
    this.#ping(Infinity)
  }

  #watchNetwork(isOn) {
    const method = isOn ? 'addEventListener' : 'removeEventListener'
    window[method]('online', this.#networkChanged)
    window[method]('pageshow', this.#networkChanged)
    navigator.connection?.[method]?.('change', this.#networkChanged)
  }

  async #lost(code) {
    const bye = this.#bye
    this.#detach()
    if (code === TOKEN_EXPIRED && typeof this.#token === 'function') this.#isRefused = true
    else if (isFinal(code)) return this.#end(code, bye?.reason)
    if (code === MOVED) this.#targets.leave()
    this.#owner.interrupted()
    let last = code
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      await this.#pause(BACK_OFF_MS[Math.min(attempt, BACK_OFF_MS.length - 1)])
      if (this.#isClosed) return
      try {
        await this.#dial(this.#targets.at(attempt), this.#targets.addresses.length > 1 ? NODE_TIMEOUT_MS : undefined)
        this.reconnects++
        return
      } catch (error) {
        if (this.#isClosed) return
        if (error.closeCode) last = error.closeCode
        const isRefused = error.status >= 400 && error.status < 500 && error.status !== 429
        if (isRefused || isFinal(error.closeCode)) return this.#end(error.closeCode ?? 0, error.code, error.message)
      }
    }
    this.#end(last, bye?.reason)
  }

  #pause(duration) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, duration)
      this.#wake = () => (clearTimeout(timer), resolve())
    })
  }

  #end(code, reason = 'SIGNAL_CLOSE', message = describeClosing(code)) {
    this.#isClosed = true
    this.#watchNetwork(false)
    this.#owner.ended({ code, reason, message, retryable: !isFinal(code) })
  }
}

/** Close codes after which connecting again would fail the same way. */
function isFinal(code) {
  return [1000, 1002, 1007, 1009].includes(code) || (code >= 4100 && code < 4200)
}

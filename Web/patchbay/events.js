// Listeners, and the errors that the library throws.

/**
 * Calls listeners by event name. A listener that throws does not affect the others.
 *
 * @template Events Listeners by name
 */
export class Emitter {
  #listeners = new Map()

  /**
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {Events[Name]} listener
   */
  on(name, listener) {
    if (typeof listener !== 'function') throw new TypeError(`the listener of '${name}' is not a function`)
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set())
    this.#listeners.get(name).add(listener)
    return this
  }

  /**
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {Events[Name]} listener
   */
  off(name, listener) {
    this.#listeners.get(name)?.delete(listener)
    return this
  }

  /**
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {Events[Name] extends (...values: infer Values) => void ? Values : never} values
   */
  emit(name, ...values) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(...values)
      } catch (error) {
        console.error(`patchbay: a listener of '${name}' failed`, error)
      }
    }
  }

  /** @param {keyof Events & string} name */
  hasListeners(name) {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }
}

/** Why a connection could not be established. */
export class ConnectError extends Error {
  name = 'ConnectError'

  constructor(code, message, status = 0) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** Why a request was refused. */
export class RequestError extends Error {
  name = 'RequestError'

  constructor(code, message, retryable = false) {
    super(message)
    this.code = code
    this.retryable = retryable
  }
}

/** What a handler of a remote procedure throws to answer with an error of its own. */
export class RpcError extends Error {
  name = 'RpcError'

  constructor(code, message) {
    super(message)
    this.code = code
  }
}

/** Why the microphone cannot be used. */
export class MicrophoneError extends Error {
  name = 'MicrophoneError'

  constructor(code, message) {
    super(message)
    this.code = code
  }
}

/** Why a connection ended: sentences for people by WebSocket close code (docs/protocol/close-codes.md). */
const closings = {
  1000: 'The call has ended.',
  1002: 'The gateway refused a message of this page.',
  1006: 'The connection was lost.',
  1007: 'The gateway refused a message of this page.',
  1009: 'The gateway refused a message of this page: it is too long.',
  4001: 'The gateway is shutting down.',
  4002: 'The connection is too slow.',
  4003: 'The connection was lost.',
  4004: 'The connection was interrupted for too long.',
  4005: 'The call has moved to another server.',
  4100: 'The login has expired. Log in again.',
  4102: 'The room was closed.',
  4103: 'You were removed from the room.',
  4104: 'You joined this room elsewhere, for example in another tab.',
  4105: 'The room is full.',
  4106: 'The gateway refused messages of this page.',
}

export function describeClosing(code) {
  return closings[code] ?? `The connection was closed (${code}).`
}

// Remote procedure calls between participants (docs/protocol/requests.md, "rpc.request").

import { RpcError } from './events.js'

const DEFAULT_TIMEOUT_MS = 10000
const NO_SUCH_METHOD = 1400
const METHOD_FAILED = 1500
const RESPONSE_TOO_LONG = 1504
// Longer responses are refused; one that exceeds the limit of messages would end the connection.
const MAX_PAYLOAD_BYTES = 15360

export class RemoteProcedures {
  #connection
  #handlers = new Map()
  // Answers that wait for the next `hello`.
  #answers = []

  constructor(connection) {
    this.#connection = connection
  }

  register(method, handler) {
    this.#handlers.set(method, handler)
  }

  unregister(method) {
    this.#handlers.delete(method)
  }

  async perform(identity, method, payload, { timeout = DEFAULT_TIMEOUT_MS } = {}) {
    const reply = await this.#connection.request('rpc.request', { to: identity, method, payload, timeout_ms: timeout })
    return reply.payload
  }

  /** Calls the handler of a method and sends its result. */
  async answer({ request_id: id, method, participant, payload }) {
    const answer = { request_id: id }
    const handler = this.#handlers.get(method)
    if (!handler) answer.error = { code: NO_SUCH_METHOD, message: 'no such method' }
    else {
      try {
        answer.payload = String((await handler({ participant, payload })) ?? '')
        if (new TextEncoder().encode(answer.payload).length > MAX_PAYLOAD_BYTES) throw new RpcError(RESPONSE_TOO_LONG, 'the response is too long')
      } catch (error) {
        // Other errors' texts may contain what is not meant for others.
        const isMeant = error instanceof RpcError
        delete answer.payload
        answer.error = isMeant ? { code: error.code, message: error.message } : { code: METHOD_FAILED, message: 'the method failed' }
        if (!isMeant) console.error(`patchbay: the handler of '${method}' failed`, error)
      }
    }
    this.#answers.push(answer)
    if (this.#connection.isOpen) this.#flush()
  }

  /** After each `hello`. In a new session nobody waits for the answers of the previous one. */
  opened(isFresh) {
    if (isFresh) this.#answers = []
    this.#flush()
  }

  #flush() {
    for (const answer of this.#answers.splice(0)) this.#connection.notify('rpc.response', answer)
  }
}

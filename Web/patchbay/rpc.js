// Remote procedure calls between participants (PROTOCOL.md section 5, `rpc.request`).

import { RpcError } from './events.js'

const DEFAULT_TIMEOUT_MS = 10000
const NO_SUCH_METHOD = 1400
const METHOD_FAILED = 1500

export class RemoteProcedures {
  #connection
  #handlers = new Map()

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
      } catch (error) {
        // Other errors' texts may contain what is not meant for others.
        const isMeant = error instanceof RpcError
        answer.error = isMeant ? { code: error.code, message: error.message } : { code: METHOD_FAILED, message: 'the method failed' }
        if (!isMeant) console.error(`patchbay: the handler of '${method}' failed`, error)
      }
    }
    this.#connection.notify('rpc.response', answer)
  }
}

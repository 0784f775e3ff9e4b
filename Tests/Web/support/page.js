// A browser's page, as far as the models of the gateway's pages use it, and a gateway whose responses the test holds back.

import { settle } from './sockets.js'

/** An element that stores nothing. */
const element = () => ({ append() {}, remove() {}, setAttribute() {}, removeAttribute() {}, getAttribute: () => null, addEventListener() {}, click() {} })

globalThis.document = /** @type {any} */ ({ title: '', hidden: false, body: element(), createElement: element, addEventListener() {} })
globalThis.addEventListener ??= /** @type {any} */ (() => {})
Object.assign(globalThis.location, { hash: '' })

/** Answers requests with `answers`, by `METHOD /path`: a body, or a function of the token that returns one. Holds back those in `held`, and answers 503 to those in `refused`. */
export class FakeGateway {
  /** The requests as `METHOD /path`. */
  asked = []
  held = new Set()
  refused = new Set()
  #waiting = []

  constructor(answers) {
    globalThis.fetch = /** @type {any} */ (async (url, { method, headers, body }) => {
      const request = `${method} ${String(url).replace(/\?.*/, '')}`
      this.asked.push(request)
      if (this.refused.has(request)) return new Response('{"code":"unavailable","message":"busy"}', { status: 503 })
      const known = answers[request]
      const content = typeof known === 'function' ? known(headers.Authorization?.slice('Bearer '.length), body && JSON.parse(body)) : known
      if (this.held.has(request)) await new Promise((resolve) => this.#waiting.push(resolve))
      if (content instanceof Response) return content
      return content === undefined ? new Response('{"code":"not_found"}', { status: 404 }) : new Response(JSON.stringify(content))
    })
  }

  /** Holds a response back, runs `task`, and returns once the request was sent. */
  async hold(request, task) {
    this.held.add(request)
    const running = task()
    await settle()
    return { running }
  }

  /** Sends the responses that were held back. */
  async release() {
    this.held.clear()
    for (const resume of this.#waiting.splice(0)) resume()
    await settle()
  }
}

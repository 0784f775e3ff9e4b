// A browser's window, location, navigator and WebSocket, as far as the library's connection uses them.

const window = new EventTarget()
globalThis.window ??= /** @type {any} */ (window)
globalThis.navigator ??= /** @type {any} */ ({})
globalThis.location ??= /** @type {any} */ ({ href: 'https://page.example/call', origin: 'https://page.example' })

/** The sockets that were opened, oldest first. */
export const sockets = []

export class FakeSocket {
  bufferedAmount = 0
  sent = []
  closedWith = null

  constructor(url, protocols) {
    Object.assign(this, { url, protocols })
    sockets.push(this)
  }

  send(message) {
    this.sent.push(typeof message === 'string' ? JSON.parse(message) : message)
  }

  close(code) {
    this.closedWith = code
  }

  /** The gateway sends a message. */
  tell(message) {
    this.onmessage?.({ data: JSON.stringify(message) })
  }

  /** The gateway accepts the connection and says `hello`. */
  welcome(values = {}) {
    this.onopen?.()
    this.tell({
      type: 'hello', seq: 1,
      data: { resume_token: 'resume-1', limits: { max_control_bytes: 500 }, ping_interval_ms: 1e6, ping_timeout_ms: 1e6, ...values },
    })
  }

  /** The requests of a type. */
  requests(type) {
    return this.sent.filter((message) => message.type === type)
  }
}

globalThis.WebSocket = /** @type {any} */ (FakeSocket)

/** Lets everything happen that waits for nothing but promises and timers that are due. */
export async function settle() {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
}

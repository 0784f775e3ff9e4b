// Opens a WebSocket to the gateway (docs/protocol/connecting.md), and finds out why it was refused.

import { ConnectError, describeClosing } from './events.js'

const SUBPROTOCOL = 'patchbay.v1'
// What a subprotocol may consist of (RFC 9110, section 5.6.2).
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const CONNECT_TIMEOUT_MS = 15000
const VALIDATE_TIMEOUT_MS = 5000

/** The two kinds of connections: the path of the WebSocket, and one that responds to GET with the reason why a token is refused. */
export const endpoints = {
  room: { path: '/v1/rtc', check: '/v1/rtc/validate' },
  channel: { path: '/v1/events', check: '/v1/calls' },
}

/** `wss://host:port` of a URL, or of the page. */
export function gatewayAddress(url) {
  try {
    const address = new URL(url ?? location.origin, location.href)
    const scheme = { 'wss:': 'wss:', 'https:': 'wss:', 'ws:': 'ws:', 'http:': 'ws:' }[address.protocol]
    if (!scheme) throw new TypeError()
    return `${scheme}//${address.host}${address.pathname.replace(/(\/v1\/(rtc|events))?\/*$/, '')}`
  } catch {
    throw new ConnectError('unsupported_url', `This is not the URL of a gateway: ${url}`)
  }
}

/**
 * Connects and waits for `hello`. `received` gets each message up to and including `hello`, and replaces the socket's handlers
 * there: frames may follow at once. Rejects with `ConnectError`, whose `closeCode` is set if the gateway closed the connection.
 */
export function dial(address, token, { endpoint = endpoints.room, query, received, signal, timeout = CONNECT_TIMEOUT_MS }) {
  return new Promise((resolve, reject) => {
    if (typeof token !== 'string' || !TOKEN.test(token)) return reject(new ConnectError('malformed_token', 'The token is not an access token.', 401))
    let socket
    try {
      const text = new URLSearchParams(query).toString()
      socket = new WebSocket(`${address}${endpoint.path}${text && `?${text}`}`, [SUBPROTOCOL, `patchbay.bearer.${token}`])
    } catch (error) {
      return reject(explain(error, address))
    }
    socket.binaryType = 'arraybuffer'
    let wasOpened = false

    const fail = (error, code) => {
      settle()
      socket.onopen = socket.onmessage = socket.onclose = null
      socket.close(code)
      reject(error)
    }
    // The gateway may have admitted the client: with 1000 it leaves at once, otherwise its place is kept for a resume.
    const cancel = () => fail(new ConnectError('cancelled', 'The connection was cancelled.'), 1000)
    const timer = setTimeout(() => fail(unreachable()), timeout)
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
    signal.addEventListener('abort', cancel)

    socket.onopen = () => (wasOpened = true)
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') return
      const message = JSON.parse(data)
      received(message, socket)
      if (message.type !== 'hello') return
      settle()
      resolve()
    }
    socket.onclose = async ({ code }) => {
      if (!wasOpened) return fail(await askWhy(address, token, endpoint.check))
      fail(Object.assign(new ConnectError('closed', describeClosing(code)), { closeCode: code }))
    }
  })
}

/** Why the browser does not even try to connect. */
function explain({ name, message }, address) {
  if (name === 'SyntaxError') return new ConnectError('unsupported_url', `This is not the URL of a gateway: ${address}`)
  if (name === 'SecurityError' && address.startsWith('ws:')) {
    return new ConnectError('insecure_url', `A page that was loaded over HTTPS reaches gateways only at wss://, not at ${address}`)
  }
  return new ConnectError('connection_failed', `The browser does not permit the connection: ${message}`)
}

/** Asks the gateway why an upgrade with this token fails: pages cannot read the response to a failed upgrade. */
async function askWhy(address, token, check) {
  try {
    const response = await fetch(`${address.replace(/^ws/, 'http')}${check}`, {
      headers: { Authorization: `Bearer ${token}` }, cache: 'no-store',
      // @ts-ignore: TypeScript 4.8 does not know it.
      signal: AbortSignal.timeout(VALIDATE_TIMEOUT_MS),
    })
    if (response.ok) return unreachable()
    const { code, message } = await response.json()
    // A gateway without this route.
    if (response.status === 404 && code !== 'room_not_found') return unreachable()
    return new ConnectError(code, message, response.status)
  } catch {
    return unreachable()
  }
}

function unreachable() {
  return new ConnectError('connection_failed', 'The gateway cannot be reached.')
}

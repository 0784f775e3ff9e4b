// Requests to the gateway's HTTP API, and how they fail.

/** A refusal, or a gateway that cannot be reached (`connection_failed`). `message` is for people. */
export class GatewayError extends Error {
  constructor(code, message, { status = 0, retryAfter = null } = {}) {
    super(message)
    this.code = code
    this.status = status
    /** In seconds; null if the gateway did not say. */
    this.retryAfter = retryAfter
  }
}

const TIMEOUT_MS = 10_000

/**
 * Returns the successful response of the gateway that served the page, or of the one at the origin `base`. Throws a `GatewayError`, also if
 * the response does not begin in time.
 */
export async function request(method, path, { body = null, token = null, accept = 'application/json', timeout = TIMEOUT_MS, base = '' } = {}) {
  const headers = { Accept: accept }
  if (body) headers['Content-Type'] = 'application/json'
  if (token) headers.Authorization = `Bearer ${token}`
  let response
  try {
    // @ts-ignore: TypeScript 4.8 does not know it.
    const signal = AbortSignal.timeout(timeout)
    response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal })
  } catch {
    throw new GatewayError('connection_failed', 'The gateway cannot be reached.')
  }
  if (response.ok) return response
  const content = await response.json().catch(() => ({}))
  const seconds = Number(response.headers.get('Retry-After'))
  throw new GatewayError(content.code ?? `http_${response.status}`, content.message ?? `The gateway answered ${response.status}.`, {
    status: response.status, retryAfter: seconds > 0 ? seconds : null,
  })
}

/** Reads a response's body with `read`, such as `(response) => response.blob()`. A connection that breaks meanwhile is a `GatewayError`. */
export async function content(response, read) {
  try {
    return await read(response)
  } catch {
    throw new GatewayError('connection_failed', 'The connection broke before everything arrived.')
  }
}

/** The parsed response; an empty object if there is none. */
export async function send(method, path, options) {
  const text = await content(await request(method, path, options), (response) => response.text())
  try {
    return text ? JSON.parse(text) : {}
  } catch {
    throw new GatewayError('bad_response', 'The response is no JSON. Does a proxy answer in place of the gateway?')
  }
}

/** Returns `https://host` for a gateway's address. An invalid address fails as unreachable, with an error that says so. */
export function httpOrigin(url) {
  try {
    return new URL(url, location.href).href.replace(/^ws/, 'http').replace(/(\/v1\/rtc)?\/*$/, '')
  } catch {
    return url
  }
}

/** The path of the next page, from a response's `Link` header (RFC 8288); null on the last page. */
export function nextPage(response) {
  return response.headers.get('Link')?.match(/<([^>]*)>\s*;\s*rel="next"/)?.[1] ?? null
}

// The gateway's HTTP API, as far as pages use it without an account (PROTOCOL.md sections 11 and 18).

/** A refusal, or a gateway that cannot be reached. `message` is for people. */
export class GatewayError extends Error {
  constructor(code, message, status = 0) {
    super(message)
    this.code = code
    this.status = status
  }
}

const TIMEOUT_MS = 10_000

/** Requests a path, of the gateway that served the page unless `base` is another's origin. Rejects with `GatewayError`. */
export async function send(method, path, { body, token, base = '' } = {}) {
  const headers = { Accept: 'application/json' }
  if (body) headers['Content-Type'] = 'application/json'
  if (token) headers.Authorization = `Bearer ${token}`
  let response
  try {
    response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch {
    throw new GatewayError('connection_failed', 'The gateway cannot be reached.')
  }
  const content = await response.json().catch(() => ({}))
  if (!response.ok) {
    throw new GatewayError(content.code ?? `http_${response.status}`, content.message ?? `The gateway answered ${response.status}.`, response.status)
  }
  return content
}

/** `{url, token, room, identity, assistant?}` of `serve --dev`, or null if this gateway or this address offers no calls without login. */
export async function developmentSession(assistant, base) {
  const query = assistant ? `?assistant=${encodeURIComponent(assistant)}` : ''
  try {
    return await send('GET', `/v1/dev/session${query}`, { base })
  } catch (error) {
    const isUnavailable = error.code !== 'assistant_not_found' && (error.status === 404 || error.status === 403)
    if (isUnavailable) return null
    throw error
  }
}

/** `[{id, name}]`; empty if there are none. */
export async function listVoices(base) {
  const { voices } = await send('GET', '/v1/voices', { base })
  return voices ?? []
}

/** What clients may see of an assistant: `{id, name, voice, language, …}`. */
export const describeAssistant = (id, base) => send('GET', `/v1/assistants/${encodeURIComponent(id)}`, { base })

// The gateway's HTTP API, as far as the playground uses it (PROTOCOL.md sections 14 and 18).

/** A refusal, or a gateway that cannot be reached. `message` is for people. */
export class GatewayError extends Error {
  constructor(code, message, status = 0) {
    super(message)
    this.code = code
    this.status = status
  }
}

const TIMEOUT_MS = 10_000

async function send(method, path, { body, token } = {}) {
  const headers = { Accept: 'application/json' }
  if (body) headers['Content-Type'] = 'application/json'
  if (token) headers.Authorization = `Bearer ${token}`
  let response
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
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
export async function developmentSession(assistant) {
  const query = assistant ? `?assistant=${encodeURIComponent(assistant)}` : ''
  try {
    return await send('GET', `/v1/dev/session${query}`)
  } catch (error) {
    const isUnavailable = error.code !== 'assistant_not_found' && (error.status === 404 || error.status === 403)
    if (isUnavailable) return null
    throw error
  }
}

/** `[{id, name}]`; empty if there are none. */
export async function listVoices() {
  const { voices } = await send('GET', '/v1/voices')
  return voices ?? []
}

/** What clients may see of an assistant: `{id, name, voice, language, …}`. */
export const describeAssistant = (id) => send('GET', `/v1/assistants/${encodeURIComponent(id)}`)

/** A logged-in user. Tokens are kept in memory only, so closing the page logs out. */
export class Account {
  #access
  #refresh

  constructor({ access_token, refresh_token }) {
    this.#access = access_token
    this.#refresh = refresh_token
  }

  static async logIn(email, password) {
    try {
      return new Account(await send('POST', '/v1/auth/token', { body: { email, password } }))
    } catch (error) {
      if (error.status === 404) throw new GatewayError('accounts_unavailable', 'This gateway has no accounts.', 404)
      throw error
    }
  }

  /** The voice of the user's settings, or an empty text. */
  async voice() {
    return (await this.#send('GET', '/v1/users/me')).settings?.voice ?? ''
  }

  setVoice(voice) {
    return this.#send('PATCH', '/v1/users/me', { settings: { voice } })
  }

  async startSession(assistant) {
    const session = await this.#send('POST', '/v1/sessions/start', { context: 'web', assistant_id: assistant })
    return { url: session.livekit_url, token: session.livekit_token, session: session.session_id }
  }

  endSession(session) {
    return this.#send('POST', '/v1/sessions/end', { session_id: session })
  }

  async logOut() {
    await send('POST', '/v1/auth/logout', { body: { refresh_token: this.#refresh } })
  }

  async #send(method, path, body) {
    try {
      return await send(method, path, { body, token: this.#access })
    } catch (error) {
      if (error.code !== 'token_expired') throw error
      const renewed = await send('POST', '/v1/auth/refresh', { body: { refresh_token: this.#refresh } })
      this.#access = renewed.access_token
      this.#refresh = renewed.refresh_token
      return send(method, path, { body, token: this.#access })
    }
  }
}

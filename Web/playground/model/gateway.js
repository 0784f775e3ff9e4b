// Accounts in the gateway's HTTP API, as far as the playground uses them (PROTOCOL.md section 14).

import { GatewayError, send } from '../../shared/http.js'

export { describeAssistant, developmentSession, listVoices } from '../../shared/gateway.js'

/** A logged-in user. Tokens are kept in memory only, so closing the page logs out. */
export class Account {
  #access
  #refresh
  #renewal = null

  constructor({ access_token, refresh_token }) {
    this.#access = access_token
    this.#refresh = refresh_token
  }

  static async logIn(email, password) {
    try {
      return new Account(await send('POST', '/v1/auth/token', { body: { email, password } }))
    } catch (error) {
      if (error.status === 404) throw new GatewayError('accounts_unavailable', 'This gateway has no accounts.', { status: 404 })
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
    const used = this.#access
    try {
      return await send(method, path, { body, token: used })
    } catch (error) {
      if (error.code !== 'token_expired') throw error
      // Another request may have renewed it meanwhile.
      if (used === this.#access) await this.#renew()
      return send(method, path, { body, token: this.#access })
    }
  }

  /** One at a time: a refresh token that is used twice revokes the login. */
  #renew() {
    this.#renewal ??= send('POST', '/v1/auth/refresh', { body: { refresh_token: this.#refresh } })
      .then((tokens) => {
        this.#access = tokens.access_token
        this.#refresh = tokens.refresh_token
      })
      .finally(() => (this.#renewal = null))
    return this.#renewal
  }
}

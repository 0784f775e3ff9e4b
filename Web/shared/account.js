// A logged-in user of the gateway's HTTP API: its tokens, and requests with them (docs/protocol/accounts.md).

import { GatewayError, content, request, send } from './http.js'

/** Tokens are kept in memory only, so closing the page logs out. */
export class Account {
  #access
  #refresh
  #renewal = null
  // Settles when a response with new tokens has arrived that revokes the present ones.
  #replacement = null

  /** `access_token` may be missing: it is requested then. `keep` gets the refresh token when the page is left. */
  constructor({ access_token = null, refresh_token }, keep = null) {
    this.#access = access_token
    this.#refresh = refresh_token
    if (keep) addEventListener('pagehide', () => this.#refresh && keep(this.#refresh))
  }

  /** Sends a request with the access token, which is renewed first if it has expired meanwhile. */
  async request(method, path, options = {}) {
    if (!this.#access) await this.#renew()
    const used = this.#access
    try {
      return await request(method, path, { ...options, token: used })
    } catch (error) {
      if (error.status !== 401) throw error
      // Another request may have renewed it meanwhile.
      if (used === this.#access) await this.#renew()
      return request(method, path, { ...options, token: this.#access })
    }
  }

  /** The parsed response. */
  async send(method, path, body = null) {
    const text = await content(await this.request(method, path, { body }), (response) => response.text())
    return text ? JSON.parse(text) : {}
  }

  /** Returns an access token for a connection that outlives requests. `isRefused`: gets a fresh one, because the last one is no longer accepted. */
  async token({ isRefused = false } = {}) {
    if (this.#replacement) {
      await this.#replacement
      if (this.#access) return this.#access
    }
    if (isRefused || !this.#access) await this.#renew()
    return this.#access
  }

  /** Takes the place of the tokens. */
  adopt({ access_token, refresh_token }) {
    this.#access = access_token
    this.#refresh = refresh_token
  }

  /** Adopts the tokens of a response that revokes the present ones. Connections that are refused meanwhile get the new ones. */
  async replace(response) {
    this.#replacement = response.then((tokens) => this.adopt(tokens)).catch(() => {}).finally(() => (this.#replacement = null))
    await this.#replacement
    await response
  }

  async logOut() {
    const token = this.#refresh
    this.forget()
    if (token) await send('POST', '/v1/auth/logout', { body: { refresh_token: token } })
  }

  /** After this the page knows no token. */
  forget() {
    this.#access = this.#refresh = null
  }

  /** One at a time: a refresh token that is used twice revokes the login. */
  #renew() {
    this.#renewal ??= this.#exchange().finally(() => (this.#renewal = null))
    return this.#renewal
  }

  async #exchange() {
    const used = this.#refresh
    try {
      const tokens = used && await send('POST', '/v1/auth/refresh', { body: { refresh_token: used } })
      if (this.#refresh === used && used) this.adopt(tokens)
    } catch (error) {
      // A new password has replaced the tokens meanwhile: the refused one says nothing about them.
      const isReplaced = error.status === 401 && this.#refresh !== used
      if (error.status === 401 && !isReplaced) this.forget()
      if (!isReplaced) throw error
    }
    // Also if the user has logged out meanwhile.
    if (!this.#refresh) throw new GatewayError('logged_out', 'You are logged out.', { status: 401 })
  }
}

/** The tokens of an account, for the constructor. */
export const authenticate = (email, password) => withAccounts(send('POST', '/v1/auth/token', { body: { email, password } }))

/** A gateway without accounts has none of their routes. */
export async function withAccounts(response) {
  try {
    return await response
  } catch (error) {
    if (error.status === 404) throw new GatewayError('accounts_unavailable', 'This gateway has no accounts.', { status: 404 })
    throw error
  }
}

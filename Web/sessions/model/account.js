// A logged-in user: its tokens, and requests with them.

import { GatewayError, request, send } from '../../shared/http.js'

const STORAGE_KEY = 'patchbay.refresh'

/**
 * The access token is only ever in this module's memory. The refresh token is, too, while the page is shown: it is written to
 * sessionStorage when the page is left and taken out when it is loaded again, so that a reload does not log out.
 *
 * Why: a script that is injected into the page could read any storage. The policy of the page permits only the gateway's own scripts and
 * everything that users wrote is shown as text, but a token that is not in storage cannot be stolen from it either. localStorage would
 * moreover outlive the tab on a shared computer. And a tab that is duplicated copies sessionStorage: two tabs with the same refresh token
 * would log each other out, because a refresh token is valid once.
 */
export class Account {
  #access = null
  #refresh
  #renewal = null

  constructor({ access_token = null, refresh_token }) {
    this.#access = access_token
    this.#refresh = refresh_token
    addEventListener('pagehide', () => this.#refresh && stored.write(this.#refresh))
    addEventListener('pageshow', stored.remove)
  }

  /** The account that the tab had before it was loaded again, or null. */
  static restore() {
    const token = stored.read()
    stored.remove()
    return token && new Account({ refresh_token: token })
  }

  static async logIn(email, password) {
    return new Account(await withAccounts(send('POST', '/v1/auth/token', { body: { email, password } })))
  }

  static async register(email, password) {
    return new Account(await withAccounts(send('POST', '/v1/auth/register', { body: { email, password } })))
  }

  /** Has a code sent to the address, if it has an account. */
  static async requestReset(email) {
    await withAccounts(send('POST', '/v1/auth/password/forgot', { body: { email } }))
  }

  /** Logs in with a code and a new password. */
  static async resetPassword(email, code, new_password) {
    return new Account(await withAccounts(send('POST', '/v1/auth/password/reset', { body: { email, code, new_password } })))
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
  async send(method, path, body) {
    const response = await this.request(method, path, { body })
    const text = await response.text().catch(() => { throw new GatewayError('connection_failed', 'The connection broke.') })
    return text ? JSON.parse(text) : {}
  }

  async changePassword(current_password, new_password) {
    const tokens = await this.send('PUT', '/v1/users/me/password', { current_password, new_password })
    this.#access = tokens.access_token
    this.#refresh = tokens.refresh_token
  }

  async logOut() {
    const token = this.#refresh
    this.forget()
    if (token) await send('POST', '/v1/auth/logout', { body: { refresh_token: token } })
  }

  /** After this the page knows no token. */
  forget() {
    this.#access = this.#refresh = null
    stored.remove()
  }

  /** One at a time: a refresh token that is used twice revokes the login. */
  #renew() {
    if (!this.#refresh) return Promise.reject(new GatewayError('logged_out', 'You are logged out.', { status: 401 }))
    this.#renewal ??= send('POST', '/v1/auth/refresh', { body: { refresh_token: this.#refresh } })
      .then((tokens) => {
        this.#access = tokens.access_token
        this.#refresh = tokens.refresh_token
      })
      .catch((error) => {
        if (error.status === 401) this.forget()
        throw error
      })
      .finally(() => (this.#renewal = null))
    return this.#renewal
  }
}

/** The refresh token in sessionStorage. Where the browser blocks storage, every access throws, and a reload logs out. */
const stored = {
  read: () => attempt(() => sessionStorage.getItem(STORAGE_KEY)),
  write: (token) => attempt(() => sessionStorage.setItem(STORAGE_KEY, token)),
  remove: () => attempt(() => sessionStorage.removeItem(STORAGE_KEY)),
}

function attempt(access) {
  try {
    return access() ?? null
  } catch {
    return null
  }
}

async function withAccounts(response) {
  try {
    return await response
  } catch (error) {
    if (error.status === 404) throw new GatewayError('accounts_unavailable', 'This gateway has no accounts.', { status: 404 })
    throw error
  }
}

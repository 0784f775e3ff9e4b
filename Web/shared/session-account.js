// An account whose login survives a reload, and links to other pages of the gateway in the same tab.

import { Account, authenticate, withAccounts } from './account.js'
import { send } from './http.js'

const STORAGE_KEY = 'patchbay.refresh'

/**
 * The access token is only ever in this module's memory. The refresh token is, too, while the page is shown: it is written to
 * sessionStorage when the page is left and taken out when the next page is loaded, so that neither a reload nor a link logs out.
 *
 * Why: a script that is injected into the page could read any storage. The policy of the page permits only the gateway's own scripts and
 * everything that users wrote is shown as text, but a token that is not in storage cannot be stolen from it either. localStorage would
 * moreover outlive the tab on a shared computer. And a tab that is duplicated copies sessionStorage: two tabs with the same refresh token
 * would log each other out, because a refresh token is valid once.
 */
export class SessionAccount extends Account {
  constructor(tokens) {
    super(tokens, stored.write)
    addEventListener('pageshow', ({ persisted }) => {
      const token = stored.read()
      stored.remove()
      // The browser restored this page from its cache, and another page of the tab may have used the token.
      if (persisted && token) this.adopt({ access_token: null, refresh_token: token })
    })
  }

  /** The account that the tab had before it was loaded again, or null. */
  static restore() {
    const token = stored.read()
    stored.remove()
    return token && new this({ refresh_token: token })
  }

  static async logIn(email, password) {
    return new this(await authenticate(email, password))
  }

  static async register(email, password) {
    return new SessionAccount(await withAccounts(send('POST', '/v1/auth/register', { body: { email, password } })))
  }

  /** Has a code sent to the address, if it has an account. */
  static async requestReset(email) {
    await withAccounts(send('POST', '/v1/auth/password/forgot', { body: { email } }))
  }

  /** Logs in with a code and a new password. */
  static async resetPassword(email, code, new_password) {
    return new SessionAccount(await withAccounts(send('POST', '/v1/auth/password/reset', { body: { email, code, new_password } })))
  }

  async changePassword(current_password, new_password) {
    await this.replace(this.send('PUT', '/v1/users/me/password', { current_password, new_password }))
  }

  forget() {
    super.forget()
    stored.remove()
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

// What can go wrong, in words: a title, what it means, and what to do next.

import { sentence } from '../../shared/problems.js'

/** Describes a problem of the state: `{severity, title, text, field?}`. `field`: the input that is wrong. */
export function describe({ key, code, message, retryAfter }) {
  const known = catalogue[key]?.[code] ?? common[code]
  const description = typeof known === 'function' ? known({ message, retryAfter }) : known
  return { severity: 'error', ...(description ?? { title: titles[key] ?? 'That did not work', text: sentence(message) || 'The gateway gave no reason. Try again.' }) }
}

const wait = (retryAfter) => (retryAfter ? `Wait ${retryAfter > 90 ? `${Math.ceil(retryAfter / 60)} minutes` : `${retryAfter} seconds`}, then try again.` : 'Wait a minute, then try again.')

const titles = {
  login: 'You could not be logged in', list: 'No more sessions could be loaded', session: 'The session was not changed', settings: 'The settings were not saved',
  password: 'The password was not changed', reset: 'The password was not changed', export: 'That did not work', connection: 'The sessions could not be loaded',
  confirm: 'The address is not confirmed', address: 'The address is not confirmed',
}

const common = {
  connection_failed: { title: 'The gateway cannot be reached', text: 'Nothing was changed. Check that this device is online, then try again.' },
  too_many_attempts: ({ retryAfter }) => ({ title: 'Too many attempts', text: wait(retryAfter) }),
  store_full: { title: 'The gateway’s disk is full', text: 'Nothing was changed. Tell the operator of this gateway, or try again later.' },
  store_busy: { title: 'The gateway is busy', text: 'Nothing was changed. Try again in a moment.' },
}

const accountsUnavailable = { title: 'This gateway has no accounts', text: 'It keeps no sessions. Its operator can turn accounts on with “patchbay serve --data”.' }

const codes = {
  invalid_code: {
    title: 'This code is not valid', field: 'code',
    text: 'It is mistyped, older than 15 minutes, replaced by a newer one, or void after five wrong ones. Check it, or have a new one sent.',
  },
  too_many_codes: { severity: 'warning', title: 'A code was sent just now', text: 'Look into your mail, also under spam. A new one can be sent after a minute.' },
  no_webhooks: { title: 'This gateway cannot send codes', text: 'Tell its operator: “webhook” is not configured, which delivers them.' },
}

export const catalogue = {
  connection: {
    connection_failed: {
      severity: 'warning', title: 'The gateway cannot be reached',
      text: 'It may be restarting, or this device is offline. The page tries again by itself; you stay logged in.',
    },
  },
  login: {
    connection_failed: { title: 'The gateway cannot be reached', text: 'Check that it is running and that this device is online, then try again.' },
    invalid_credentials: { title: 'Wrong e-mail address or password', text: 'Check both and try again, choose “Forgot your password?”, or create an account.', field: 'password' },
    email_taken: { title: 'This address has an account', text: 'Log in instead, or use another address.', field: 'email' },
    too_many_registrations: ({ retryAfter }) => ({ title: 'Too many new accounts', text: `Too many were created from this network. ${wait(retryAfter)}` }),
    accounts_unavailable: accountsUnavailable,
    login_expired: { severity: 'warning', title: 'Your login has expired', text: 'Log in again to continue where you were.' },
    account_deleted: { severity: 'info', title: 'Your account was deleted', text: 'With all its sessions, recordings and settings. You can close this page.' },
  },
  confirm: codes,
  address: codes,
  reset: { ...codes, accounts_unavailable: accountsUnavailable },
  password: {
    wrong_password: { title: 'The current password is wrong', text: 'Check it and try again. If you have forgotten it, log out and choose “Forgot your password?”.', field: 'current' },
    no_password: { title: 'This account has no password', text: 'It is managed by another login service. Change the password there.' },
  },
  settings: {
    handle_taken: { title: 'This handle is taken', text: 'Choose another one. Nothing was saved.', field: 'handle' },
    invalid_value: ({ message }) => ({ title: 'A setting is not valid', text: `${sentence(message)} Nothing was saved.` }),
  },
  export: {
    export_running: { severity: 'warning', title: 'An export is running', text: 'It may be in another tab. Wait until it is done, then try again.' },
    too_many_exports: { severity: 'warning', title: 'The gateway is making other exports', text: 'Try again in a minute.' },
  },
}

// What can go wrong, in words: a title, what it means, and what to do next.

import { common, login } from '../../shared/account-problems.js'
import { sentence } from '../../shared/problems.js'

/** Describes a problem of the state: `{severity, title, text, field?}`. `field`: the input that is wrong. */
export function describe({ key, code, message, retryAfter, name }) {
  const known = catalogue[key]?.[code] ?? common[code]
  const description = typeof known === 'function' ? known({ message, retryAfter, name }) : known
  return { severity: 'error', ...(description ?? { title: titles[key] ?? 'That did not work', text: sentence(message) || 'The gateway gave no reason. Try again.' }) }
}

const titles = {
  login: 'You could not be logged in', list: 'No more sessions could be loaded', session: 'The session was not changed', settings: 'The settings were not saved',
  password: 'The password was not changed', reset: 'The password was not changed', export: 'That did not work', connection: 'The sessions could not be loaded',
  consent: 'Your answer was not saved', confirm: 'The address is not confirmed', address: 'The address is not confirmed',
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
  call: {
    incoming: ({ name }) => ({ severity: 'info', title: `${name || 'Somebody'} is calling you`, text: 'Calls are answered on the page of calls.' }),
  },
  connection: {
    connection_failed: {
      severity: 'warning', title: 'The gateway cannot be reached',
      text: 'It may be restarting, or this device is offline. The page tries again by itself; you stay logged in.',
    },
  },
  login: {
    ...login,
    accounts_unavailable: accountsUnavailable,
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

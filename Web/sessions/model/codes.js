// Codes that a user receives by mail: for a forgotten password, and to confirm the address (docs/protocol/accounts.md).

import { announce } from '../../shared/announce.js'
import { SessionAccount } from '../../shared/session-account.js'
import { attempt, begin, expectCurrent, reload } from './commands.js'
import { store } from './store.js'

// MARK: A forgotten password

/** Opens the form for an address, or closes it with null. */
export const forgetPassword = (email) => store.dispatch('reset', { email })

/** Says the same whether the address has an account or not. */
export const requestReset = (email) => requestCode('reset', async () => {
  await SessionAccount.requestReset(email)
  // Closed meanwhile.
  if (store.state.reset === null) return
  if (store.state.reset.email !== email) store.dispatch('reset', { email })
  announce(`If ${email} has an account, a code was sent to it.`)
})

/** Sets a new password, which logs in. */
export async function resetPassword(email, code, password) {
  const isDone = await begin(() => SessionAccount.resetPassword(email, plain(code), password), 'reset')
  if (isDone) announce('Your password was changed. You are logged in.')
  return isDone
}

// MARK: The address

/** `key`: of the form's problems. */
export const requestConfirmation = (key) => requestCode('confirmation', async (user) => {
  await user.send('POST', '/v1/users/me/email_confirmation')
  expectCurrent(user)
  announce(`A code was sent to ${store.state.user.email}.`)
}, key)

export const confirmAddress = (code, key) => attempt(key, async (user) => {
  const { email_confirmed } = await user.send('PUT', '/v1/users/me/email_confirmation', { code: plain(code) })
  expectCurrent(user)
  // The settings are the same ones: a form that is being edited keeps what it shows.
  store.dispatch('user', { user: { ...store.state.user, email_confirmed } })
  announce('Your address is confirmed')
  if (store.state.stage !== 'unconfirmed') return
  store.dispatch('stage', { stage: 'starting' })
  await reload()
})

// MARK: Codes

/** Requests a code, and notes when the next one is possible. */
const requestCode = (purpose, task, key = purpose) => attempt(key, async (user) => {
  try {
    await task(user)
    expectCurrent(user)
    store.dispatch('code.sent', { purpose })
  } catch (error) {
    expectCurrent(user)
    // One was sent just now, perhaps by another tab.
    if (error.code === 'too_many_codes') store.dispatch('code.sent', { purpose, seconds: error.retryAfter })
    throw error
  }
})

/** Mails break codes with hyphens of any kind and no-break spaces, which the gateway does not know. */
const plain = (code) => code.replace(/[\s\p{Dash}]/gu, '').toUpperCase()

// Texts of problems with logging in and with the store, for pages with accounts.

/** `Wait 30 seconds, then try again.` */
export const wait = (retryAfter) => (retryAfter ? `Wait ${retryAfter > 90 ? `${Math.ceil(retryAfter / 60)} minutes` : `${retryAfter} seconds`}, then try again.` : 'Wait a minute, then try again.')

/** Problems that any request may have. */
export const common = {
  connection_failed: { title: 'The gateway cannot be reached', text: 'Nothing was changed. Check that this device is online, then try again.' },
  too_many_attempts: ({ retryAfter }) => ({ title: 'Too many attempts', text: wait(retryAfter) }),
  store_full: { title: 'The gateway’s disk is full', text: 'Nothing was changed. Tell the operator of this gateway, or try again later.' },
  store_busy: { title: 'The gateway is busy', text: 'Nothing was changed. Try again in a moment.' },
}

export const login = {
  connection_failed: { title: 'The gateway cannot be reached', text: 'Check that it is running and that this device is online, then try again.' },
  invalid_credentials: { title: 'Wrong e-mail address or password', text: 'Check both and try again, choose “Forgot your password?”, or create an account.', field: 'password' },
  email_taken: { title: 'This address has an account', text: 'Log in instead, or use another address.', field: 'email' },
  too_many_registrations: ({ retryAfter }) => ({ title: 'Too many new accounts', text: `Too many were created from this network. ${wait(retryAfter)}` }),
  login_expired: { severity: 'warning', title: 'Your login has expired', text: 'Log in again to continue where you were.' },
}

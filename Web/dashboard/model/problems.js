// What can go wrong, in words: a title, what it means, and what to do next.

import { sentence } from '../../shared/problems.js'

export const catalogue = {
  gateway: {
    default: {
      severity: 'warning', title: 'The gateway cannot be reached',
      text: 'It may be restarting, or this device is offline. The figures below are the last ones; the page keeps trying.',
    },
  },
  access: {
    token_expired: { severity: 'warning', title: 'The token has expired', text: 'Get a new one with “patchbay token --list --ttl 86400”, and paste it.' },
    malformed_token: { title: 'This is not a token', text: 'Paste the whole text that “patchbay token” prints: three parts, separated by dots.' },
    bad_signature: { title: 'The key is not valid here', text: 'Check which gateway it is for, and the secret in that gateway’s configuration (“keys”).' },
    unknown_issuer: { title: 'The gateway does not know this key', text: 'Its name must be one of those under “keys” in the gateway’s configuration.' },
    missing_grant: { title: 'The token does not administer anything', text: 'Make one with “patchbay token --list --create”, and with “--admin --room NAME” to administer a room.' },
    too_many_attempts: { title: 'Too many refused tokens', text: 'The gateway refuses tokens from this address for now. Wait a minute, then try again.' },
    insecure: { title: 'This page was not loaded over HTTPS', text: 'Browsers sign tokens only on such pages. Open it over HTTPS, or paste a token.' },
    connection_failed: { title: 'The gateway cannot be reached', text: 'Check that it is running and that this device is online, then try again.' },
    default: ({ message }) => ({ title: 'The gateway refused', text: `${reason(message)} Try another token or key.` }),
  },
  room: {
    participant_not_found: { severity: 'info', title: 'The participant has left', text: 'Nothing had to be done.' },
    track_not_found: { severity: 'info', title: 'The track is no longer published', text: 'Nothing had to be done.' },
    room_not_found: { severity: 'info', title: 'The room has ended', text: 'Nothing had to be done.' },
    no_token: { title: 'No token for this room', text: 'Paste one that administers it.' },
    connection_failed: { title: 'The gateway cannot be reached', text: 'It is not known whether this was done. Look at the log when the gateway is back.' },
    token_expired: { title: 'The token has expired', text: 'Paste a new one.' },
    malformed_token: { title: 'This is not a token', text: 'Paste the whole text that “patchbay token” prints.' },
    default: ({ message }) => ({ title: 'That was not done', text: reason(message) }),
  },
}

const reason = (message) => sentence(message) || 'The gateway gave no reason.'

/** Describes a problem of the state: `{severity, title, text}`. */
export function describe(problem) {
  const known = catalogue[problem.key]?.[problem.code] ?? catalogue[problem.key].default
  return { severity: 'error', ...(typeof known === 'function' ? known(problem) : known) }
}

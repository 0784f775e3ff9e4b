// The texts of problems and endings of calls: a title, an explanation, and an action.

import { common, login, wait } from '../../shared/account-problems.js'
import { duration } from '../../shared/elements.js'
import { sentence } from '../../shared/problems.js'

/** Describes a problem of the state: `{severity, title, text, field?, action?}`. `action`: the button's command. */
export function describe(problem) {
  const known = catalogue[problem.key]?.[problem.code] ?? common[problem.code]
  const description = typeof known === 'function' ? known(problem) : known
  const fallback = { title: titles[problem.key] ?? 'That did not work', text: sentence(problem.message) || 'The gateway gave no reason. Try again.' }
  return { severity: 'error', ...(description ?? fallback) }
}

const titles = {
  login: 'You could not be logged in', consent: 'Your answer was not saved', call: 'That did not work', dial: 'The call could not be made', invite: 'Nobody was added', contacts: 'The contacts were not saved',
  connection: 'The page could not be loaded', channel: 'You are not reachable here', microphone: 'The microphone cannot be used', audio: 'There is no sound',
}

const blocked = 'The others cannot hear you.'

// Why nobody can be called at an address.
const addresses = {
  invalid_address: { title: 'This is not an address', text: 'Enter an e-mail address, or @ and a handle, such as @ann.', field: 'address' },
  not_found: { title: 'Nobody can be called at this address', text: 'Nobody has it, or they do not take calls from you. They decide that in their settings and contacts.', field: 'address' },
  conflict: { severity: 'warning', title: 'You are in another call', text: 'End it or put it on hold, then try again.' },
  limit_exceeded: { title: 'Too many calls', text: wait(null) },
  connection_lost: { severity: 'warning', title: 'There is no connection', text: 'Try again when this page has reconnected.' },
}

export const catalogue = {
  support: { unsupported: ({ message }) => ({ severity: 'warning', title: 'This browser cannot take calls', text: sentence(message) }) },
  connection: {
    connection_failed: {
      severity: 'warning', action: 'reload', title: 'The gateway cannot be reached',
      text: 'It may be restarting, or this device is offline. The page tries again by itself; you stay logged in.',
    },
  },
  channel: {
    reconnecting: { severity: 'warning', title: 'Reconnecting', text: 'Nobody can call you here meanwhile. Calls in progress go on.' },
    ended: ({ message }) => ({ action: 'channel', title: 'You are not reachable here', text: sentence(message) }),
  },
  login: {
    ...login,
    accounts_unavailable: { title: 'This gateway has no accounts', text: 'Its operator can turn them on with “patchbay serve --data”.' },
  },
  dial: addresses,
  invite: addresses,
  call: {
    conflict: { severity: 'info', title: 'Another device was faster', text: 'The call goes on there. “Continue here” takes it over.' },
    not_found: { severity: 'info', title: 'This call is over', text: 'It ended before your answer arrived.' },
    connection_lost: { severity: 'warning', title: 'There is no connection', text: 'Try again when this page has reconnected.' },
    room_failed: ({ message }) => ({ title: 'The call could not be joined', text: sentence(message) }),
  },
  contacts: {
    invalid_address: { title: 'This is not an address', text: 'Enter an e-mail address, an id, or @ and a handle.', field: 'address' },
    known_address: { title: 'This address is among your contacts', text: 'Change that contact instead.', field: 'address' },
    invalid_value: ({ message }) => ({ title: 'A contact is not valid', text: `${sentence(message)} Nothing was saved.` }),
  },
  room: {
    reconnecting: { severity: 'warning', title: 'The connection of the call is lost', text: 'It is being restored. The others wait for you.' },
    lost: { severity: 'error', action: 'rejoin', title: 'You are no longer connected to the call', text: 'The connection was lost for too long.' },
  },
  microphone: {
    waiting: { severity: 'info', title: 'Allow the microphone', text: 'Your browser asks for it. The others cannot hear you before.' },
    permission_denied: { action: 'microphone', title: 'The microphone is blocked', text: `${blocked} Allow it in the browser’s address bar, then try again.` },
    not_found: { action: 'microphone', title: 'There is no microphone', text: `${blocked} Connect one, then try again.` },
    in_use: { action: 'microphone', title: 'The microphone is in use', text: `${blocked} Close the program that uses it, then try again.` },
    ended: { action: 'microphone', severity: 'warning', title: 'The microphone was disconnected', text: blocked },
  },
  audio: {
    gesture: { severity: 'warning', action: 'audio', title: 'The browser blocks sound', text: 'It plays after a click or a key.' },
    no_output: { action: 'audio', title: 'There is no sound output', text: 'Connect speakers or headphones, then try again.' },
  },
  /** The endings of calls. `name`: the other party; `address`: the address to call again. */
  ended: {
    completed: ({ milliseconds }) => ({ severity: 'info', title: 'Call ended', text: milliseconds == null ? 'It is in your recents.' : `It took ${duration(milliseconds)}.` }),
    busy: ({ name }) => ({ severity: 'warning', action: 'call', title: `${name} is busy`, text: 'They are in another call.' }),
    rejected: ({ name }) => ({ severity: 'warning', action: 'call', title: `${name} declined`, text: 'You can try again later.' }),
    unanswered: ({ name }) => ({ severity: 'warning', action: 'call', title: 'No answer', text: `${name} did not answer.` }),
    failed: ({ name }) => ({ action: 'call', title: 'The call failed', text: `${name} could not be reached, or the connection was lost for too long.` }),
    answered_elsewhere: { severity: 'info', title: 'Answered on another device', text: 'The call goes on there. “Continue here” takes it over.' },
    moved_elsewhere: { severity: 'info', title: 'Continued on another device', text: 'The call goes on there. “Continue here” takes it back.' },
    while_away: { severity: 'info', title: 'Call ended', text: 'It ended while this page had no connection.' },
  },
  missed: {
    missed: ({ name }) => ({ severity: 'warning', action: 'call', title: 'Missed call', text: `${name} called you.` }),
  },
}

// Problems with their severity and actions. `actions` are commands of `commands.js`; titles and texts are in the tables.

import { languageTag, texts } from './language.js'

const action = (label, command) => ({ label, command })
const retryMicrophone = [action('retryMicrophone', 'microphone.enable')]
const startAudio = [action('startAudio', 'audio.start')]
const callAgain = [action('callAgain', 'call.again')]
const backToStart = [action('backToStart', 'call.close')]
const [warning, info] = ['warning', 'info'].map((severity) => (actions = []) => ({ severity, actions }))
const error = (actions = []) => ({ severity: 'error', actions })

/** Describes a problem of the state: `{severity, title, text, actions, countdown?}`. Severity: error, warning or info. */
export function describe(problem, table = texts) {
  const kinds = catalogue[problem.key] ?? {}
  const code = Object.hasOwn(kinds, problem.code ?? '') ? problem.code : 'default'
  const { actions, ...description } = kinds[code]
  const [title, text] = table.problems[problem.key][code]
  const values = { ...problem, time: problem.deadline === undefined ? '' : new Date(problem.deadline).toLocaleTimeString(languageTag) }
  return {
    ...description, title, text: typeof text === 'function' ? text(values) : text,
    actions: actions.map(({ label, command }) => ({ label: table.actions[label], command })),
  }
}

export const catalogue = {
  support: { no_encoder: warning(), default: warning() },
  audio: { gesture: warning(startAudio), no_output: error(startAudio) },
  microphone: {
    waiting: info(), permission_denied: error(retryMicrophone), not_found: error(retryMicrophone), in_use: error(retryMicrophone),
    ended: error(retryMicrophone), default: error(retryMicrophone),
  },
  connection: { reconnecting: { ...warning([action('leave', 'call.leave')]), countdown: 20 }, draining: warning() },
  stall: { connecting: warning([action('giveUp', 'call.leave')]), call: warning() },
  agent: { missing: warning(callAgain), busy: info(), unstaffed: warning(), lost: warning(callAgain) },
  request: { default: warning() },
  device: { default: warning() },
  consent: { default: error() },
  start: {
    connection_failed: error(), token_expired: error(), bad_signature: error(), malformed_token: error(), missing_grant: error(),
    invalid_credentials: error(), too_many_attempts: error(), logged_out: error(), email_unconfirmed: error(), room_full: error(), draining: error(),
    origin_not_allowed: error(), assistant_not_found: error(), accounts_unavailable: error(), default: error(),
  },
  ended: {
    CLIENT_INITIATED: info([...callAgain, ...backToStart]),
    DUPLICATE_IDENTITY: error([action('takeOver', 'call.again'), ...backToStart]),
    PARTICIPANT_REMOVED: error(backToStart),
    ROOM_DELETED: info([...callAgain, ...backToStart]),
    ROOM_CLOSED: info([...callAgain, ...backToStart]),
    SERVER_SHUTDOWN: error([...callAgain, ...backToStart]),
    token_expired: error(backToStart),
    default: error([...callAgain, ...backToStart]),
  },
}

// What the widget says: its status, and each problem as a title, what it means and what to do next. `actions` are names of commands.

import { agentStatus } from './machine.js'

const tryAgain = { label: 'Try again', command: 'retry' }
const close = { label: 'Close', command: 'close' }
const startAgain = { label: 'Start again', command: 'restart' }
const end = { label: 'Close', command: 'stop' }
const typeInstead = { label: 'Type instead', command: 'typeInstead' }
const retryMicrophone = { label: 'Try the microphone again', command: 'retryMicrophone' }

/** The name to show; never empty. */
export const nameOf = ({ call, definition }) => call.agent?.name || definition?.name || 'Assistant'

/** One line that tells what happens now. */
export function statusText(state) {
  const { view, call, definition } = state
  if (view === 'idle') return 'Not turned on yet'
  if (view === 'loading') return 'Loading…'
  if (view === 'error') return 'Not available'
  if (call.phase === 'none') return 'Ready to talk'
  if (call.phase === 'connecting') return 'Connecting…'
  if (call.phase === 'reconnecting') return 'Connection lost. Reconnecting…'
  if (!call.agent) return call.absence === 'left' ? 'The conversation has ended' : `Waiting for ${nameOf(state)} to join…`
  const status = agentStatus(state)
  if (status === 'thinking') return call.tools.length ? `Working on it: ${toolName(call.tools.at(-1))}…` : definition.thinkingText || 'Thinking…'
  if (status === 'waiting') return call.microphone.state === 'on' && !call.microphone.isMuted ? definition.interruptText || 'Speak to interrupt' : 'Speaking'
  if (call.microphone.state === 'prompted') return 'Your browser asks for the microphone: choose “Allow”'
  if (call.microphone.state === 'on') return call.microphone.isMuted ? 'You are muted. Unmute to speak' : 'Listening. Go ahead and speak'
  return call.microphone.state === 'failed' ? 'Type your message' : 'One moment…'
}

const toolName = ({ name }) => name.replace(/[_-]+/g, ' ')

/** The problem of the view `error`: `{title, text, actions}`. */
export function describeProblem({ problem: { kind, code, message, hadBegun } }) {
  const known = problems[code] ?? kinds[hadBegun ? 'lost' : kind]
  const { title, text, actions } = typeof known === 'function' ? known(message) : known
  return { title, text, actions: actions ?? (kind === 'initialization' ? [tryAgain] : [tryAgain, close]) }
}

const kinds = {
  initialization: (message) => ({ title: 'The assistant cannot be loaded', text: `${message || 'The gateway gave no reason.'} Try again in a moment.` }),
  connection: (message) => ({ title: 'The conversation could not be started', text: `${message || 'The gateway gave no reason.'} Try again in a moment.` }),
  lost: (message) => ({ title: 'The conversation was interrupted', text: `${message || 'The connection was lost.'} Try again to start a new one.` }),
  other: (message) => ({ title: 'Something went wrong', text: `${message || 'There is no further information.'} Reload the page, then try again.` }),
}

const problems = {
  no_assistant: {
    title: 'No assistant is chosen', text: 'This page does not say which assistant to load. Its owner sets the attribute “assistant-id”.', actions: [],
  },
  assistant_not_found: {
    title: 'This assistant does not exist', text: 'It may have been removed or renamed. Tell the owner of this page, or try again later.',
  },
  connection_failed: {
    title: 'No connection', text: 'The gateway cannot be reached. Check that this device is online, then try again.',
  },
  timeout: { title: 'This takes too long', text: 'No answer within 30 seconds. Check your connection, then try again.' },
  token_expired: { title: 'Your access has expired', text: 'Try again to get a new one. If that does not help, reload the page or log in again.' },
  no_token: { title: 'This page gives no access', text: 'It provides no token for a conversation. Its owner sets “token” or “tokenProvider”.', actions: [close] },
  provider_failed: (message) => ({
    title: 'No access at the moment', text: `This page could not get a token for you${message ? ` (${message})` : ''}. Log in if needed, then try again.`,
  }),
  unsupported: (message) => ({
    title: 'This browser cannot make calls', text: message || 'Use a current version of Chrome, Edge, Firefox or Safari, over HTTPS.', actions: [close],
  }),
  malformed_token: { title: 'This page’s access is not valid', text: 'What it provides is not a token of the gateway. Reload the page, then try again.' },
  bad_signature: { title: 'This page’s access is not valid', text: 'Its token was not issued for this gateway. Reload the page, then try again.' },
  missing_grant: { title: 'You may not join', text: 'Your access does not permit this conversation. Log in with another account, then try again.' },
  room_full: { title: 'The conversation is full', text: 'Try again when somebody has left.' },
  draining: { title: 'The gateway is restarting', text: 'It accepts no new conversations. Try again in a minute.' },
  SERVER_SHUTDOWN: { title: 'The gateway is restarting', text: 'Your conversation was ended. Try again in a minute.' },
  origin_not_allowed: { title: 'This page may not connect', text: 'The gateway does not allow its address. Its owner adds it to “allowed_origins”.', actions: [tryAgain, close] },
  DUPLICATE_IDENTITY: { title: 'Continued elsewhere', text: 'You joined from another tab or device. Continue there, or take over here.', actions: [{ ...tryAgain, label: 'Continue here' }, close] },
  PARTICIPANT_REMOVED: { title: 'You were removed', text: 'An administrator ended your part of the conversation.', actions: [close] },
}

/** What hinders the call without ending it: `{key, severity, text, actions}`, the most important first. */
export function describeNotices(state) {
  const { call } = state
  const notices = []
  const add = (key, severity, text, ...actions) => notices.push({ key, severity, text, actions })
  if (call.phase === 'none' || call.phase === 'connecting') return notices
  const name = nameOf(state)
  if (call.phase === 'reconnecting') add('connection', 'warning', 'The conversation continues as soon as the connection is back. Keep this page open.')
  if (call.absence === 'missing') add('agent', 'warning', `${name} has not joined. Wait a little longer, or start again.`, startAgain, end)
  if (call.absence === 'lost') add('agent', 'warning', `${name} lost the connection. It may return in a moment; otherwise start again.`, startAgain, end)
  if (call.absence === 'left') add('agent', 'info', `${name} has ended the conversation.`, startAgain, end)
  if (call.isSoundBlocked) add('sound', 'warning', 'The browser keeps the sound off until you turn it on.', { label: 'Turn on sound', command: 'startAudio' })
  const { microphone, isTyping } = call
  if (microphone.state === 'prompted') add('microphone', 'info', 'Choose “Allow” where your browser asks for the microphone.', typeInstead)
  if (microphone.state === 'failed') {
    const isSettled = isTyping ? 'info' : 'warning'
    const choices = isTyping ? [retryMicrophone] : [retryMicrophone, typeInstead]
    add('microphone', isSettled, (microphoneTexts[microphone.code] ?? microphoneTexts.failed)(microphone.message), ...choices)
  }
  if (call.closesAt !== null) add('closing', 'warning', `The gateway restarts at ${new Date(call.closesAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}. Finish by then, or start again after it.`)
  if (call.refusal) add('refusal', 'warning', `That did not work: ${call.refusal} Try it again.`)
  if (call.isRecorded) add('recording', 'info', 'This conversation is recorded.')
  return notices
}

const microphoneTexts = {
  permission_denied: () => 'The microphone is blocked for this page. You can type, or allow it in the browser’s settings and try again.',
  not_found: () => 'No microphone was found. Connect one and try again, or type.',
  in_use: () => 'Another program uses the microphone. Close it and try again, or type.',
  ended: () => 'The microphone was disconnected. Connect it and try again, or type.',
  unsupported: () => 'This browser cannot use the microphone here. You can type.',
  failed: (message) => `The microphone cannot be used. ${message} Try again, or type.`.replace('  ', ' '),
}

/** The way to the browser's microphone setting of this page, in steps. */
export function microphoneSteps(userAgent = navigator.userAgent) {
  const last = 'Come back here and choose “Try again”.'
  if (/iPhone|iPad/.test(userAgent)) return ['Open Settings, then Apps, then your browser.', 'Turn on Microphone.', last]
  if (/Android/.test(userAgent)) return ['Tap the icon to the left of the address, then Permissions.', 'Set Microphone to “Allow”.', last]
  if (/Firefox\//.test(userAgent)) return ['Click the crossed-out microphone to the left of the address.', 'Remove the block beside “Use the microphone”.', last]
  if (/Edg\/|Chrome\//.test(userAgent)) return ['Click the icon to the left of the address.', 'Set Microphone to “Allow”, or open Site settings to find it.', last]
  return ['Open the menu Safari, then Settings for This Website.', 'Set Microphone to “Allow”.', last]
}

// What can go wrong, in words: a title, what it means, and what to do next. `actions` are commands of `commands.js`.

const retryMicrophone = { label: 'Try the microphone again', command: 'microphone.enable' }
const startAudio = { label: 'Turn on sound', command: 'audio.start' }
const callAgain = { label: 'Call again', command: 'call.again' }
const backToStart = { label: 'Back to start', command: 'call.close' }

/** Describes a problem of the state: `{severity, title, text, actions, countdown?}`. Severity: error, warning or info. */
export function describe(problem) {
  const known = catalogue[problem.key]?.[problem.code] ?? catalogue[problem.key]?.default
  const description = typeof known === 'function' ? known(problem) : known
  return { severity: 'error', actions: [], ...description }
}

export const catalogue = {
  support: {
    default: ({ message }) => ({
      title: 'This browser cannot make calls',
      text: message ?? 'It cannot encode audio (WebCodecs). Use a current version of Chrome, Edge, Firefox or Safari, over HTTPS.',
    }),
  },
  audio: {
    gesture: {
      severity: 'warning', title: 'Sound is off',
      text: 'The browser neither plays sound nor passes on your microphone before you click or press a key on this page.',
      actions: [startAudio],
    },
    no_output: {
      title: 'There is no sound output',
      text: 'You do not hear the assistant, and it does not hear you: this browser needs a speaker or headphones for both. Connect one, then turn on sound. Until then you can type.',
      actions: [startAudio],
    },
  },
  microphone: {
    waiting: {
      severity: 'info', title: 'Waiting for the microphone',
      text: 'Your browser asks whether this page may use the microphone. Choose “Allow”. Until then you can type.',
    },
    permission_denied: {
      title: 'The microphone is blocked',
      text: 'This page has no permission to use it. Open the site settings beside the address, allow the microphone, then try again. Until then you can type.',
      actions: [retryMicrophone],
    },
    not_found: {
      title: 'No microphone found',
      text: 'Connect a microphone or headset, then try again. Until then you can type.',
      actions: [retryMicrophone],
    },
    in_use: {
      title: 'The microphone is in use',
      text: 'Another program uses it. Close that program or choose another microphone under Devices, then try again.',
      actions: [retryMicrophone],
    },
    ended: {
      title: 'The microphone was disconnected',
      text: 'The assistant no longer hears you. Connect it again or choose another one under Devices.',
      actions: [retryMicrophone],
    },
    default: ({ message }) => ({
      title: 'The microphone cannot be used', text: `${message ?? 'The browser gave no reason.'} You can type instead.`, actions: [retryMicrophone],
    }),
  },
  connection: {
    reconnecting: {
      severity: 'warning', title: 'Connection lost, reconnecting',
      text: 'The gateway or the network is not reachable. This continues where it stopped if the connection returns in time; otherwise you join again as a new participant.',
      countdown: 20, actions: [{ label: 'Leave', command: 'call.leave' }],
    },
    draining: ({ deadline }) => ({
      severity: 'warning', title: 'The gateway is shutting down',
      text: `It closes this call at ${new Date(deadline).toLocaleTimeString()} at the latest. Finish, or call again then.`,
    }),
  },
  agent: {
    missing: ({ hasDevelopment }) => ({
      severity: 'warning', title: 'No assistant has joined',
      text: hasDevelopment
        ? 'No assistant is running. Start one with “patchbay agent dev”, then call again.'
        : 'Check the assistant’s id, that an agent with this id is connected to the gateway, and that a dispatch rule or the token sends it to this room.',
      actions: [callAgain],
    }),
    busy: {
      severity: 'info', title: 'All assistants are busy',
      text: 'Stay in the call: one joins as soon as it is free. To serve more calls at once, start another agent.',
    },
    unstaffed: {
      severity: 'warning', title: 'No assistant is connected',
      text: 'Start one with “patchbay agent start”: it joins this call by itself. Or leave, and call again later.',
    },
    lost: {
      severity: 'warning', title: 'The assistant is gone',
      text: 'Its process has ended or lost the connection. Wait a moment for it to return or for another one to take over, or call again.',
      actions: [callAgain],
    },
  },
  request: { default: ({ message }) => ({ severity: 'warning', title: 'The request was refused', text: message }) },
  device: { default: ({ message }) => ({ severity: 'warning', title: 'The device cannot be used', text: `${message} Choose another one under Devices.` }) },
  start: {
    connection_failed: {
      title: 'The gateway cannot be reached', text: 'Check that it is running and that this device is online, then try again.',
    },
    token_expired: { title: 'The token has expired', text: 'Get a new token and paste it, or log in again.' },
    bad_signature: { title: 'The token is not valid here', text: 'Its signature does not match a key of this gateway. Check which gateway and key it is for.' },
    malformed_token: { title: 'This is not a token', text: 'Paste the whole text that “patchbay token” prints: three parts, separated by dots.' },
    missing_grant: ({ message }) => ({ title: 'The token does not permit this', text: `${message}. Ask for a token with these grants.` }),
    invalid_credentials: { title: 'Wrong e-mail address or password', text: 'Check both and try again.' },
    too_many_attempts: { title: 'Too many attempts', text: 'Wait a minute, then try again.' },
    room_full: { title: 'The room is full', text: 'Try again when somebody has left, or use another room.' },
    draining: { title: 'The gateway is shutting down', text: 'It accepts no new calls. Try again shortly.' },
    origin_not_allowed: { title: 'This page may not connect', text: 'Its address is not in the gateway’s allowed_origins. Open the playground at the gateway’s own address.' },
    assistant_not_found: { title: 'No such assistant', text: 'Check the assistant’s id. The built-in one is “default”.' },
    accounts_unavailable: { title: 'This gateway has no accounts', text: 'It runs without a store (“serve --data”). Paste a token instead.' },
    default: ({ message }) => ({ title: 'The call could not be started', text: message || 'The gateway gave no reason. Try again.' }),
  },
  ended: {
    CLIENT_INITIATED: { severity: 'info', title: 'Call ended', text: 'You left the call.', actions: [callAgain, backToStart] },
    DUPLICATE_IDENTITY: {
      title: 'Joined elsewhere', text: 'The same identity joined from another tab or device, which took over this call. Close one of the two.',
      actions: [{ ...callAgain, label: 'Take over here' }, backToStart],
    },
    PARTICIPANT_REMOVED: { title: 'Removed from the call', text: 'An administrator removed you.', actions: [backToStart] },
    ROOM_DELETED: { severity: 'info', title: 'Call ended', text: 'The room was deleted.', actions: [callAgain, backToStart] },
    ROOM_CLOSED: { severity: 'info', title: 'Call ended', text: 'The room was closed.', actions: [callAgain, backToStart] },
    SERVER_SHUTDOWN: { title: 'The gateway shut down', text: 'Call again in a moment.', actions: [callAgain, backToStart] },
    token_expired: { title: 'Your token has expired', text: 'It expired while the connection was down. Start a new call to get another one.', actions: [backToStart] },
    default: ({ message, code, number }) => ({
      title: 'Disconnected', text: `${message || 'The gateway gave no reason.'} Reason: ${code}${number ? `, close code ${number}` : ''}.`, actions: [callAgain, backToStart],
    }),
  },
}

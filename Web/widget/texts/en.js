// The widget's sentences in English. All tables have the same keys; functions take what a sentence is about. `message` is a sentence of the
// gateway or the browser, and may be empty.

export const en = {
  assistant: 'Assistant',
  you: 'You',

  status: {
    off: 'Not turned on yet',
    loading: 'Loading…',
    unavailable: 'Not available',
    ready: 'Ready to talk',
    connecting: 'Connecting…',
    reconnecting: 'Connection lost. Reconnecting…',
    ended: 'The conversation has ended',
    waiting: (name) => `Waiting for ${name} to join…`,
    working: (tool) => `Working on it: ${tool}…`,
    thinking: 'Thinking…',
    interruptible: 'Speak to interrupt',
    speaking: 'Speaking',
    prompted: 'Your browser asks for the microphone: choose “Allow”',
    muted: 'You are muted. Unmute to speak',
    listening: 'Listening. Go ahead and speak',
    typing: 'Type your message',
    moment: 'One moment…',
  },

  launcher: {
    start: (name) => `Talk to ${name}`,
    name: 'Voice assistant',
    off: 'Waits until this page turns it on',
  },

  controls: {
    start: 'Start talking',
    end: 'End',
    endLong: 'End the conversation',
    cancel: 'Cancel',
    cancelLong: 'Cancel the connection',
    mute: 'Mute',
    unmute: 'Unmute',
    noMicrophone: 'The microphone is off',
    showTranscript: 'Transcript and text',
    showVoice: 'Back to the voice',
    close: 'Close',
    endAndClose: 'End and close',
    interrupt: 'Interrupt',
    skip: 'Skip introduction',
    message: 'Message',
    messageHint: 'Type a message',
    send: 'Send',
    suggestions: 'Suggestions',
    voice: 'Voice',
    voiceLater: 'From the next conversation on',
    more: 'More',
    history: 'Earlier conversations',
    feedback: 'Give feedback',
  },

  talk: {
    ready: 'What can I do for you?',
    moment: 'One moment',
  },

  transcript: {
    name: 'Transcript',
    empty: 'What is said appears here. You can also type.',
    chosen: 'Chosen',
    unheard: '(not heard)',
  },

  cards: {
    draft: 'Draft',
    error: 'Failed',
    info: 'Information',
    body: 'Text of the draft',
    dismiss: 'Dismiss this card',
    refused: 'That did not arrive. Check your connection, then choose again.',
  },

  actions: {
    retry: 'Try again',
    close: 'Close',
    restart: 'Start again',
    stop: 'Close',
    takeOver: 'Continue here',
    typeInstead: 'Type instead',
    retryMicrophone: 'Try the microphone again',
    startAudio: 'Turn on sound',
  },

  notices: {
    reconnecting: 'The conversation continues as soon as the connection is back. Keep this page open.',
    missing: (name) => `${name} has not joined. Wait a little longer, or start again.`,
    lost: (name) => `${name} lost the connection. It may return in a moment; otherwise start again.`,
    left: (name) => `${name} has ended the conversation.`,
    soundBlocked: 'The browser keeps the sound off until you turn it on.',
    prompted: 'Choose “Allow” where your browser asks for the microphone.',
    closing: (time) => `The gateway restarts at ${time}. Finish by then, or start again after it.`,
    refused: (message) => `That did not work: ${message} Try it again.`,
    recorded: 'This conversation is recorded.',
  },

  microphone: {
    title: 'The microphone is blocked',
    text: 'Your browser does not let this page use it. To talk, allow it in the browser’s settings:',
    permission_denied: 'The microphone is blocked for this page. You can type, or allow it in the browser’s settings and try again.',
    not_found: 'No microphone was found. Connect one and try again, or type.',
    in_use: 'Another program uses the microphone. Close it and try again, or type.',
    ended: 'The microphone was disconnected. Connect it and try again, or type.',
    unsupported: 'This browser cannot use the microphone here. You can type.',
    failed: (message) => `The microphone cannot be used. ${message} Try again, or type.`,
  },

  // The way to the browser's microphone setting of a page.
  steps: {
    ios: ['Open Settings, then Apps, then your browser.', 'Turn on Microphone.'],
    android: ['Tap the icon to the left of the address, then Permissions.', 'Set Microphone to “Allow”.'],
    firefox: ['Click the crossed-out microphone to the left of the address.', 'Remove the block beside “Use the microphone”.'],
    chromium: ['Click the icon to the left of the address.', 'Set Microphone to “Allow”, or open Site settings to find it.'],
    safari: ['Open the menu Safari, then Settings for This Website.', 'Set Microphone to “Allow”.'],
    last: 'Come back here and choose “Try again”.',
  },

  // Why a connection was closed, by WebSocket close code.
  closings: {
    1006: 'The connection was lost.',
    4002: 'The connection is too slow.',
    4003: 'The connection was lost.',
    4004: 'The connection was interrupted for too long.',
    4100: 'The login has expired. Log in again.',
    4105: 'The conversation is full.',
  },

  kinds: {
    initialization: { title: 'The assistant cannot be loaded', text: (message) => `${message || 'The gateway gave no reason.'} Try again in a moment.` },
    connection: { title: 'The conversation could not be started', text: (message) => `${message || 'The gateway gave no reason.'} Try again in a moment.` },
    lost: { title: 'The conversation was interrupted', text: (message) => `${message || 'The connection was lost.'} Try again to start a new one.` },
    other: { title: 'Something went wrong', text: (message) => `${message || 'There is no further information.'} Reload the page, then try again.` },
  },

  problems: {
    no_assistant: { title: 'No assistant is chosen', text: 'This page does not say which assistant to load. Its owner sets the attribute “assistant-id”.' },
    assistant_not_found: { title: 'This assistant does not exist', text: 'It may have been removed or renamed. Tell the owner of this page, or try again later.' },
    connection_failed: { title: 'No connection', text: 'The gateway cannot be reached. Check that this device is online, then try again.' },
    timeout: { title: 'This takes too long', text: 'No answer within 30 seconds. Check your connection, then try again.' },
    token_expired: { title: 'Your access has expired', text: 'Try again to get a new one. If that does not help, reload the page or log in again.' },
    no_token: { title: 'This page gives no access', text: 'It provides no token for a conversation. Its owner sets “token” or “tokenProvider”.' },
    provider_failed: {
      title: 'No access at the moment', text: (message) => `This page could not get a token for you${message && ` (${message})`}. Log in if needed, then try again.`,
    },
    unsupported: { title: 'This browser cannot make calls', text: 'Use a current version of Chrome, Edge, Firefox or Safari, over HTTPS.' },
    malformed_token: { title: 'This page’s access is not valid', text: 'What it provides is not a token of the gateway. Reload the page, then try again.' },
    bad_signature: { title: 'This page’s access is not valid', text: 'Its token was not issued for this gateway. Reload the page, then try again.' },
    missing_grant: { title: 'You may not join', text: 'Your access does not permit this conversation. Log in with another account, then try again.' },
    room_full: { title: 'The conversation is full', text: 'Try again when somebody has left.' },
    draining: { title: 'The gateway is restarting', text: 'It accepts no new conversations. Try again in a minute.' },
    SERVER_SHUTDOWN: { title: 'The gateway is restarting', text: 'Your conversation was ended. Try again in a minute.' },
    origin_not_allowed: { title: 'This page may not connect', text: 'The gateway does not allow its address. Its owner adds it to “allowed_origins”.' },
    DUPLICATE_IDENTITY: { title: 'Continued elsewhere', text: 'You joined from another tab or device. Continue there, or take over here.' },
    PARTICIPANT_REMOVED: { title: 'You were removed', text: 'An administrator ended your part of the conversation.' },
  },
}

// The playground's texts in English. All tables have the same keys; functions take the values to insert.

export const en = {
  skip: 'Skip to content',
  pages: { name: 'Pages', playground: 'Playground', sessions: 'Sessions', calls: 'Calls', dashboard: 'Dashboard' },
  you: 'You',
  assistant: 'Assistant',

  room: { disconnected: 'Not connected', connecting: 'Connecting', connected: 'Connected', reconnecting: 'Reconnecting', ended: 'Call ended' },
  agent: {
    initializing: 'Starting', idle: 'Idle', listening: 'Listening', thinking: 'Thinking', speaking: 'Speaking', error: 'Error',
    reconnecting: 'Reconnecting', gone: 'Not in the call',
  },
  status: {
    agent: (state) => `Assistant: ${state}`, held: 'On hold', recorded: 'Recorded by the gateway', duration: 'Duration of the call',
    microphoneOn: 'Microphone on', muted: 'Microphone muted', unmuted: 'Microphone unmuted', resumed: 'Call resumed',
    recordingStarted: 'Recording on this device started', recordingReady: 'Recording ready for download',
  },

  start: {
    title: 'Call an assistant', with: 'Connect with', development: 'No login', account: 'Account', token: 'Token',
    email: 'E-mail address', password: 'Password', logIn: 'Log in', loggingIn: 'Logging in…', loggedInAs: 'Logged in as ', logOut: 'Log out',
    accessToken: 'Access token', tokenFrom: 'From ', tokenKept: '. It is kept in this page only.',
    assistant: 'Assistant', notConnected: (name) => `${name} (not connected)`, other: 'Another id…', otherId: 'Id of the assistant',
    missing: (id) => `There is no assistant “${id}”.`, idHint: 'The id of its definition.',
    voice: 'Voice', ownVoice: 'The assistant’s own', savedVoice: 'Saved in your settings.', tokenChoosesVoice: 'The token chooses it.',
    currentVoice: (voice) => `Now: ${voice}.`, call: 'Start call', callForm: 'Start a call', back: 'Back',
    asksForMicrophone: 'Your browser asks for the microphone.', tokenDecides: 'The token decides on room and assistant.', listenAndType: 'You listen and type.', readAndType: 'You read and type.',
    pages: 'New here? Create an account on the page “Sessions”.',
  },

  devices: {
    title: 'Microphone and speaker', microphone: 'Microphone', speaker: 'Speaker', systemDefault: 'System default', numbered: (number) => `Device ${number}`,
    noChoice: 'This browser plays on the system’s output only.', testMicrophone: 'Test microphone', stopTest: 'Stop the test', testSound: 'Test sound',
    waiting: 'Choose “Allow” where your browser asks for the microphone.', speak: 'Say something: the bar moves with your voice.', level: 'Level of the microphone',
    playing: 'You should hear three tones.', soundFailed: 'No sound could be played. Choose another speaker.',
    record: 'Record on this device', stopRecording: 'Stop recording', download: (size) => `Download WAV, ${size} MB`,
    recording: 'Recording. Left channel: you; right channel: what you hear.', cut: 'Stopped after 30 minutes. ',
    recorded: 'The file is only in this page: download it before you close the page or call again.',
    ask: 'Kept in this page, not sent anywhere. Ask the other side before you record.',
  },

  // Labels for loudness.
  levels: { silent: 'silent', faint: 'very quiet', quiet: 'quiet', good: 'good', loud: 'too loud' },

  call: {
    name: 'Call', controls: 'Call controls', mute: 'Mute', waiting: 'Waiting…', turnOnMicrophone: 'Turn on mic', hold: 'Hold', interrupt: 'Interrupt', leave: 'Leave',
    message: 'Message to the assistant', messageHint: 'Type instead of talking', send: 'Send', problems: 'Problems', details: 'Details of the call',
    onHold: 'on hold', microphoneOff: 'mic off', muted: 'muted', level: (name) => `Level: ${name}`,
    toolStarted: (name) => `Tool ${name} started`, toolFinished: (name) => `Tool ${name} finished`, toolFailed: (name, message) => `Tool ${name} failed: ${message}`,
  },

  transcript: {
    name: 'Transcript', empty: 'What is said appears here.', typed: 'You typed', message: 'Message', unheard: '(not heard)',
    removed: (count) => `${count} older ${count === 1 ? 'line was' : 'lines were'} removed to keep this page fast.`,
  },

  panels: { turns: 'Response times', network: 'Network', events: 'Events', devices: 'Devices and recording' },

  turns: {
    name: 'Response times of the last turns', empty: 'How fast the assistant answers appears here after its first answer.',
    turn: 'Turn', endOfTurn: 'End of turn', recognition: 'Recognition', firstToken: 'First token', firstAudio: 'First audio', total: 'Total',
    interrupted: (turn) => `${turn}, interrupted`,
    hint: 'In milliseconds. The total is what you wait: from the end of your words to the first sound of the answer.',
    trend: {
      steady: (average) => `On average ${average}, steady.`, faster: (average, percent) => `On average ${average}, lately ${percent} % faster.`,
      slower: (average, percent) => `On average ${average}, lately ${percent} % slower.`, few: (average) => `On average ${average}.`,
    },
  },

  network: {
    rtt: 'Round trip', jitter: 'Jitter', delay: 'Playout delay', drops: 'Dropped frames', received: 'Frames received', sent: 'Frames sent',
    cleared: 'Frames cleared', underruns: 'Underruns', buffered: 'Buffered', latency: 'Output latency', reconnects: 'Reconnects',
  },

  events: {
    filter: 'Filter', filterHint: 'All words must occur; a minus excludes one.', clear: 'Clear', name: 'Events, newest first', data: (name) => `Data of ${name}`,
    paused: (count) => `Paused while an event has the focus, ${count} new`, all: (count) => `${count} events`,
    some: (shown, count) => `${shown} of ${count} events`, older: (count) => `${count} older not shown`, removed: (count) => `${count} removed`,
  },

  after: {
    title: 'After the call', facts: (duration, lines) => `${duration} long, ${lines} ${lines === 1 ? 'line' : 'lines'}.`,
    response: (average) => `The assistant answered after ${average} on average.`, summary: 'Summary', toDo: 'To do', pending: 'The summary is being made…',
    failed: 'The summary could not be made. The transcript is complete.', slow: 'The summary takes longer than usual. It appears with the stored session.',
    notLogged: 'This call was not logged, so nothing of it is kept. You can change that in the settings.', settings: 'Open the settings',
    noAccount: 'This call belongs to no account, so nothing of it is kept.', open: 'Open the stored session', copy: 'Copy transcript',
    copyAll: 'Copy summary and transcript', copied: 'Copied', copyFailed: 'The browser does not permit copying. Select the text instead.',
  },

  actions: {
    retryMicrophone: 'Try the microphone again', startAudio: 'Turn on sound', callAgain: 'Call again', backToStart: 'Back to start', leave: 'Leave',
    giveUp: 'Give up', takeOver: 'Take over here',
  },

  countdown: {
    kept: (seconds) => `The gateway keeps your place for ${seconds}\u00a0s`, over: 'Your place has probably been given up. Still trying to join again.',
  },

  // Titles and texts, by kind and code.
  problems: {
    support: {
      no_encoder: ['This browser cannot send your voice', ({ message }) => message],
      default: ['This browser has no sound in calls', ({ message }) => message],
    },
    audio: {
      gesture: ['Sound is off', 'The browser neither plays sound nor passes on your microphone before you click or press a key on this page.'],
      no_output: ['There is no sound output', 'You do not hear the assistant, and it does not hear you: this browser needs a speaker or headphones for both. Connect one, then turn on sound. Until then you can type.'],
    },
    microphone: {
      waiting: ['Waiting for the microphone', 'Your browser asks whether this page may use the microphone. Choose “Allow”. Until then you can type.'],
      permission_denied: ['The microphone is blocked', 'This page has no permission to use it. Open the site settings beside the address, allow the microphone, then try again. Until then you can type.'],
      not_found: ['No microphone found', 'Connect a microphone or headset, then try again. Until then you can type.'],
      in_use: ['The microphone is in use', 'Another program uses it. Close that program or choose another microphone under Devices, then try again.'],
      ended: ['The microphone was disconnected', 'The assistant no longer hears you. Connect it again or choose another one under Devices.'],
      default: ['The microphone cannot be used', ({ message }) => `${message ?? 'The browser gave no reason.'} You can type instead.`],
    },
    connection: {
      reconnecting: ['Connection lost, reconnecting', 'The gateway or the network is not reachable. This continues where it stopped if the connection returns in time; otherwise you join again as a new participant.'],
      draining: ['The gateway is shutting down', ({ time }) => `It closes this call at ${time} at the latest. Finish, or call again then.`],
    },
    stall: {
      connecting: ['The gateway does not answer yet', 'It may be overloaded, or the network is slow. The page goes on trying; you can also give up and call again later.'],
      call: ['The gateway does not answer', 'It may be overloaded, or the network is interrupted. What you say may arrive late. If this lasts, the page connects again by itself.'],
    },
    agent: {
      missing: ['No assistant has joined', ({ hasDevelopment }) => hasDevelopment
        ? 'No assistant is running. Start one with “patchbay agent dev”, then call again.'
        : 'Check the assistant’s id, that an agent with this id is connected to the gateway, and that a dispatch rule or the token sends it to this room.'],
      busy: ['All assistants are busy', 'Stay in the call: one joins as soon as it is free. To serve more calls at once, start another agent.'],
      unstaffed: ['No assistant is connected', 'Start one with “patchbay agent start”: it joins this call by itself. Or leave, and call again later.'],
      lost: ['The assistant is gone', 'Its process has ended or lost the connection. Wait a moment for it to return or for another one to take over, or call again.'],
    },
    request: { default: ['The request was refused', ({ message }) => message] },
    device: { default: ['The device cannot be used', ({ message }) => `${message} Choose another one under Devices.`] },
    consent: { default: ['Your answer was not saved', ({ message }) => `${message || 'The gateway gave no reason.'} The call was not started. Try again.`] },
    start: {
      connection_failed: ['The gateway cannot be reached', 'Check that it is running and that this device is online, then try again.'],
      token_expired: ['The token has expired', 'Get a new token and paste it, or log in again.'],
      bad_signature: ['The token is not valid here', 'Its signature does not match a key of this gateway. Check which gateway and key it is for.'],
      malformed_token: ['This is not a token', 'Paste the whole text that “patchbay token” prints: three parts, separated by dots.'],
      missing_grant: ['The token does not permit this', ({ message }) => `${message}. Ask for a token with these grants.`],
      invalid_credentials: ['Wrong e-mail address or password', 'Check both and try again.'],
      too_many_attempts: ['Too many attempts', 'Wait a minute, then try again.'],
      logged_out: ['Your login has expired', 'Log in again, then call.'],
      email_unconfirmed: ['Your address is not confirmed', 'Open the page “Sessions” and enter the code from the mail, then call.'],
      room_full: ['The room is full', 'Try again when somebody has left, or use another room.'],
      draining: ['The gateway is shutting down', 'It accepts no new calls. Try again shortly.'],
      origin_not_allowed: ['This page may not connect', 'Its address is not in the gateway’s allowed_origins. Open the playground at the gateway’s own address.'],
      assistant_not_found: ['No such assistant', 'Check the assistant’s id. The built-in one is “default”.'],
      accounts_unavailable: ['This gateway has no accounts', 'It runs without a store (“serve --data”). Paste a token instead.'],
      default: ['The call could not be started', ({ message }) => message || 'The gateway gave no reason. Try again.'],
    },
    ended: {
      CLIENT_INITIATED: ['Call ended', 'You left the call.'],
      DUPLICATE_IDENTITY: ['Joined elsewhere', 'The same identity joined from another tab or device, which took over this call. Close one of the two.'],
      PARTICIPANT_REMOVED: ['Removed from the call', 'An administrator removed you.'],
      ROOM_DELETED: ['Call ended', 'The room was deleted.'],
      ROOM_CLOSED: ['Call ended', 'The room was closed.'],
      SERVER_SHUTDOWN: ['The gateway shut down', 'Call again in a moment.'],
      token_expired: ['Your token has expired', 'It expired while the connection was down. Start a new call to get another one.'],
      default: ['Disconnected', ({ message, code, number }) => `${message || 'The gateway gave no reason.'} Reason: ${code}${number ? `, close code ${number}` : ''}.`],
    },
  },
}

// The words for states, in one place: what is seen and what is announced agree.

export const roomLabels = {
  disconnected: 'Not connected',
  connecting: 'Connecting',
  connected: 'Connected',
  reconnecting: 'Reconnecting',
  ended: 'Call ended',
}

export const agentLabels = {
  initializing: 'Starting',
  idle: 'Idle',
  listening: 'Listening',
  thinking: 'Thinking',
  speaking: 'Speaking',
  error: 'Error',
  reconnecting: 'Reconnecting',
  gone: 'Not in the call',
}

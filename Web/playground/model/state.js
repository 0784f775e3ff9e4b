// The playground's state and how actions change it. No DOM, no network: a pure function of state and action.

import { problemReducers } from '../../shared/problems.js'
import { addTurn } from './turns.js'
import { applyPlayout, applySegment, addLine, emptyTranscript } from '../../shared/transcript-lines.js'

const LOG_LIMIT = 500

const noCall = {
  room: { state: 'disconnected', name: '', identity: '', startedAt: null, endedAt: null, mode: null },
  agent: null,
  microphone: { state: 'off', muted: false },
  isHeld: false,
  isRoomRecorded: false,
  // Whether the gateway stores the conversation.
  isLogged: false,
  // The metrics of the assistant's turns, in order.
  turns: [],
  transcript: emptyTranscript,
  // The stored session of a call with an account. `state`: none, pending, ready, failed, slow, unlogged or gone.
  session: { id: null, state: 'none', summary: null },
}

export const initialState = {
  // start, consent (asks whether conversations are kept) or call.
  stage: 'start',
  // `assistants`: the available ones, by mode. `assistant`: details of one whose id was typed.
  start: { mode: null, hasDevelopment: null, hasVoices: [], assistants: { development: [], account: [] }, assistant: null, isBusy: false, email: null, voice: '' },
  // The test of the microphone before a call: off, waiting, on or failed.
  check: { state: 'off', code: null, message: '' },
  // The browser's capabilities, from `checkSupport`.
  support: { audio: true, listening: true },
  ...noCall,
  // By key, in order of appearance; `problems.js` has the texts.
  problems: [],
  devices: { microphones: [], speakers: [], microphone: '', speaker: '' },
  recording: { state: 'none', startedAt: null, url: null, size: 0, isCut: false },
  log: { entries: [], removed: 0, next: 1 },
}

const reducers = {
  support: (state, { support }) => ({ ...state, support }),
  'start.mode': (state, { mode }) => withStart(state, { mode }),
  'start.development': (state, { isAvailable }) =>
    withStart(state, { hasDevelopment: isAvailable, mode: state.start.mode ?? (isAvailable ? 'development' : 'account') }),
  'start.voices': (state, { voices }) => withStart(state, { hasVoices: voices }),
  'start.assistant': (state, { assistant }) => withStart(state, { assistant }),
  'start.assistants': (state, { mode, assistants }) => withStart(state, { assistants: { ...state.start.assistants, [mode]: assistants } }),
  'start.account': (state, { email, voice = '' }) => withStart(state, { email, voice, mode: email === null ? state.start.mode : 'account' }),
  'start.busy': (state, { isBusy }) => withStart(state, { isBusy }),
  'start.show': (state) => ({ ...state, ...noCall, stage: 'start', problems: state.problems.filter(({ key }) => key === 'support') }),

  'consent.ask': (state) => ({ ...state, stage: 'consent', problems: state.problems.filter(({ key }) => key === 'support') }),

  'call.begin': (state, { mode, at }) => ({
    ...state,
    ...noCall,
    stage: 'call',
    room: { ...noCall.room, state: 'connecting', mode, startedAt: at },
    problems: state.problems.filter(({ key }) => key === 'support'),
  }),
  'call.failed': (state) => ({ ...state, ...noCall, stage: 'start', start: { ...state.start, isBusy: false } }),
  'call.ended': (state, { at }) => ({
    ...state,
    room: { ...state.room, state: 'ended', endedAt: at },
    agent: state.agent && { ...state.agent, state: 'gone' },
    microphone: { ...state.microphone, state: 'off' },
    problems: state.problems.filter(({ key }) => key === 'ended' || key === 'support'),
  }),
  'room.state': (state, { value }) => (state.room.state === 'ended' ? state : withRoom(state, { state: value })),
  'room.joined': (state, { name, identity, isLogged = false, at }) => ({ ...withRoom(state, { name, identity, startedAt: at }), isLogged }),
  'room.logged': (state, { isLogged }) => (state.isLogged === isLogged ? state : { ...state, isLogged }),
  'room.recorded': (state, { isActive }) => ({ ...state, isRoomRecorded: isActive }),
  'agent.present': (state, { identity, name, value }) => ({ ...state, agent: { identity, name, state: value ?? 'initializing' } }),
  'agent.state': (state, { identity, value }) =>
    state.agent?.identity === identity ? { ...state, agent: { ...state.agent, state: value } } : state,
  'agent.gone': (state, { identity }) => (state.agent?.identity === identity ? { ...state, agent: { ...state.agent, state: 'gone' } } : state),
  'microphone.state': (state, { value }) => ({ ...state, microphone: { ...state.microphone, state: value } }),
  'microphone.muted': (state, { isMuted }) => ({ ...state, microphone: { ...state.microphone, muted: isMuted } }),
  held: (state, { isHeld }) => ({ ...state, isHeld }),
  turn: (state, { metrics }) => ({ ...state, turns: addTurn(state.turns, metrics) }),
  session: (state, { values }) => ({ ...state, session: { ...state.session, ...values } }),
  check: (state, { values }) => ({ ...state, check: { ...state.check, ...values } }),

  segment: (state, { segment, name }) => withTranscript(state, applySegment(state.transcript, segment, name)),
  playout: (state, { position }) => withTranscript(state, applyPlayout(state.transcript, position)),
  line: (state, { line }) => withTranscript(state, addLine(state.transcript, line)),

  ...problemReducers,

  /** What was unplugged is no longer chosen: the system's default takes its place. */
  devices: (state, { microphones, speakers }) => {
    const [microphone, speaker] = [present(state.devices.microphone, microphones), present(state.devices.speaker, speakers)]
    return { ...state, devices: { microphones, speakers, microphone, speaker } }
  },
  'devices.chosen': (state, { kind, id }) => ({ ...state, devices: { ...state.devices, [kind]: id } }),
  recording: (state, { values }) => ({ ...state, recording: { ...state.recording, ...values } }),

  event: (state, { source, name, data, at }) => {
    const { entries, removed, next } = state.log
    const kept = entries.length >= LOG_LIMIT ? entries.slice(entries.length - LOG_LIMIT + 1) : entries
    return {
      ...state,
      log: { entries: [...kept, { id: next, at, source, name, data }], removed: removed + entries.length - kept.length, next: next + 1 },
    }
  },
  'log.clear': (state) => ({ ...state, log: { ...state.log, entries: [], removed: 0 } }),
}

export function reduce(state, action) {
  const reducer = reducers[action.type]
  if (!reducer) throw new Error(`There is no action ${action.type}.`)
  return reducer(state, action)
}

/** Whether a conversation is in progress, also while its connection is being restored. */
export const isInCall = (state) => state.stage === 'call' && state.room.state !== 'ended'

const present = (id, devices) => (devices.some(({ deviceId }) => deviceId === id) ? id : '')
const withStart = (state, values) => ({ ...state, start: { ...state.start, ...values } })
const withRoom = (state, values) => ({ ...state, room: { ...state.room, ...values } })
const withTranscript = (state, transcript) => (transcript === state.transcript ? state : { ...state, transcript })

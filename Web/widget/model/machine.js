// The widget's state machine. Pure: an event and the time in milliseconds go in, the new state and effects come out. No DOM, no network.
//
// `view` is what is shown: idle, loading, collapsed, connecting, expanded, transcript or error. Effects are what the session has to do:
// load, connect, consent, microphone, leave, onboarding, remember, send. `deadline` is when the event `tick` is due.

import { MISSING_MS } from '../../shared/waits.js'
import { conversationReducers, newCall } from './conversation.js'

// Token, connection and `hello` together. The library gives up earlier; a page's token provider may never answer.
const CONNECT_TIMEOUT_MS = 30_000

export const initialState = {
  view: 'idle',
  isWanted: false,
  assistant: '',
  // The gateway's address as the page gives it; may be empty.
  url: '',
  isTalk: false,
  // Only a button without text, and the transcript: the panel is never shown as `expanded`.
  isIconOnly: false,
  // The page's, a tag or empty.
  language: '',
  // Of the assistant that was loaded; null before.
  definition: null,
  loaded: '',
  loadedFrom: '',
  // Counts loads and calls, so that late answers to earlier ones are ignored.
  attempt: 0,
  call: newCall,
  // In the view `error`: `{kind: 'initialization' | 'connection' | 'other', code, message, closeCode, hadBegun, pendingTexts}`. `closeCode`: of
  // the WebSocket, if it was closed; `hadBegun`: a call was lost; `pendingTexts`: were not sent, and belong to the next try.
  problem: null,
  deadline: null,
}

export const isInCall = ({ call }) => call.phase !== 'none'

/** What the assistant does, for the status: initializing, idle, thinking, waiting while it speaks and can be interrupted, or error. */
export function agentStatus({ call }) {
  if (call.phase !== 'connected' || !call.agent || call.agent.isAway) return 'idle'
  if (call.agent.state === 'thinking' || (call.tools.length > 0 && call.agent.state !== 'error')) return 'thinking'
  if (call.agent.state === 'speaking') return 'waiting'
  return call.agent.state === 'initializing' || call.agent.state === 'error' ? call.agent.state : 'idle'
}

/** Whether the microphone has a screen of its own: the browser will ask for it, or refuses it, and the user has not yet decided to type. */
export function hasMicrophoneScreen({ call }) {
  const { state, code } = call.microphone
  return call.phase !== 'none' && !call.isTyping && (state === 'unasked' || code === 'permission_denied')
}

/** The screen shown in place of the conversation: the consent question (`consent`), `microphone`, or none (empty). */
export function screenOf(state) {
  if (state.call.isConsentAsked) return 'consent'
  return hasMicrophoneScreen(state) ? 'microphone' : ''
}

/** Returns `{state, effects}`. Events of an earlier attempt, and events that mean nothing in this state, change nothing. */
export function handle(state, event, now) {
  if (event.attempt !== undefined && event.attempt !== state.attempt) return unchanged(state)
  if (transitions[event.type]) return transitions[event.type](state, event, now)
  const reducer = conversationReducers[event.type]
  if (!reducer) throw new Error(`There is no event ${event.type}.`)
  if (!isInCall(state)) return unchanged(state)
  const { call, effects = [] } = reducer(state.call, event, now)
  return { state: call === state.call ? state : withDeadline({ ...state, call }), effects }
}

const unchanged = (state) => ({ state, effects: [] })

const transitions = {
  /** The element's attributes: `assistant`, `isWanted` (should-initialize), `isTalk`, `isIconOnly`, `url`, and the page's `language`. A call is never ended by them. */
  configured(state, { assistant, isWanted, isTalk, isIconOnly = false, url = '', language = '' }) {
    const next = withoutVoiceView({ ...state, assistant, isWanted, isTalk, isIconOnly, url, language })
    const isSame = assistant === state.assistant && url === state.url
    if (isInCall(state) || (isWanted && state.view !== 'idle' && isSame)) return unchanged(next)
    return rest({ ...next, loaded: '', definition: null })
  },

  loaded(state, { definition, assistant = state.assistant }) {
    if (state.view !== 'loading') return unchanged(state)
    return rest({ ...state, definition, loaded: assistant, loadedFrom: state.url })
  },

  loadFailed: (state, { code, message }) =>
    state.view === 'loading' ? unchanged(fail(state, 'initialization', code, message)) : unchanged(state),

  /** The user starts a conversation; `text` is said for them once the assistant is there. */
  start(state, { text = null }, now) {
    const canStart = ['collapsed', 'expanded'].includes(state.view) || (state.view === 'error' && state.problem.kind !== 'initialization')
    if (isInCall(state) || !canStart) return unchanged(state)
    return isOutdated(state) ? rest(state) : begin(state, text === null ? [] : [text], now)
  },

  /** The user is asked whether conversations are kept. The call waits for the answer without a time limit. */
  consentNeeded: (state) =>
    unchanged(state.call.phase === 'connecting' ? { ...state, call: { ...state.call, isConsentAsked: true }, deadline: null } : state),

  consentAnswered(state, { isAllowed }, now) {
    if (!state.call.isConsentAsked) return unchanged(state)
    const { attempt } = state
    return {
      state: { ...state, call: { ...state.call, isConsentAsked: false }, deadline: now + CONNECT_TIMEOUT_MS },
      effects: [{ type: 'consent', attempt, isAllowed }],
    }
  },

  connected(state, { identity, hasSeenOnboarding }, now) {
    if (state.call.phase !== 'connecting') return unchanged(state)
    const onboarding = state.definition.hasOnboarding && !hasSeenOnboarding ? 'wanted' : 'none'
    const call = { ...state.call, phase: 'connected', identity, startedAt: now, onboarding, agentDueAt: now + MISSING_MS }
    return { state: withDeadline(withoutVoiceView({ ...state, view: 'expanded', call })), effects: [{ type: 'microphone' }] }
  },

  connectFailed(state, { kind = 'connection', code, message, closeCode }) {
    return state.call.phase === 'connecting' ? { state: fail(state, kind, code, message, closeCode), effects: [{ type: 'leave' }] } : unchanged(state)
  },

  /** The call ended: by the user, by the gateway, or because the connection could not be restored. */
  disconnected(state, { reason, message, closeCode }) {
    if (!isInCall(state)) return unchanged(state)
    const isIntended = reason === 'CLIENT_INITIATED' || reason === 'ROOM_DELETED' || reason === 'ROOM_CLOSED'
    const { state: next, effects } = isIntended ? rest(state) : unchanged(fail(state, 'connection', reason, message, closeCode))
    // What the call has opened is closed: the room and the account's session.
    return { state: next, effects: [{ type: 'leave' }, ...effects] }
  },

  /** The user ends the conversation, also one that is only being connected. */
  stop(state) {
    if (!isInCall(state)) return unchanged(state)
    const { state: next, effects } = rest({ ...state, attempt: state.attempt + 1 })
    return { state: next, effects: [{ type: 'leave' }, ...effects] }
  },

  /** Closes what is open without a call: the panel, or an error. */
  close(state) {
    if (isInCall(state) || !['expanded', 'error'].includes(state.view)) return unchanged(state)
    if (state.problem?.kind === 'initialization') return unchanged(state)
    return rest(state)
  },

  retry(state, _, now) {
    if (state.view !== 'error') return unchanged(state)
    if (state.problem.kind === 'initialization') return rest({ ...state, loaded: '' })
    return isOutdated(state) ? rest(state) : begin(state, state.problem.pendingTexts, now)
  },

  showTranscript: (state) => unchanged(state.view === 'expanded' && isInCall(state) ? { ...state, view: 'transcript' } : state),
  showVoice: (state) => unchanged(state.view === 'transcript' && hasVoiceView(state) ? { ...state, view: 'expanded' } : state),

  /** Without a microphone, the conversation goes on by text. */
  typeInstead: (state) =>
    unchanged(isInCall(state) && state.call.phase !== 'connecting' ? { ...state, view: 'transcript', call: { ...state.call, isTyping: true } } : state),

  tick(state, _, now) {
    if (state.deadline === null || now < state.deadline) return unchanged(state)
    const { call } = state
    if (call.phase === 'connecting') {
      return { state: fail({ ...state, attempt: state.attempt + 1 }, 'connection', 'timeout', ''), effects: [{ type: 'leave' }] }
    }
    const isPrompted = call.microphone.state === 'asking' && now >= call.microphone.promptAt
    const isMissing = call.agentDueAt !== null && now >= call.agentDueAt
    return unchanged(withDeadline({
      ...state,
      call: {
        ...call,
        microphone: isPrompted ? { ...call.microphone, state: 'prompted' } : call.microphone,
        absence: isMissing ? (call.absence ?? (call.agent ? 'lost' : 'missing')) : call.absence,
        agentDueAt: isMissing ? null : call.agentDueAt,
      },
    }))
  },
}

/** Whether the attributes were changed during a call that was lost. */
const isOutdated = (state) => !state.isWanted || !isLoaded(state)
const isLoaded = ({ loaded, assistant, loadedFrom, url }) => loaded === assistant && loadedFrom === url

/** Whether there is the view `expanded`: the icon alone goes on with the transcript. */
export const hasVoiceView = ({ isTalk, isIconOnly }) => isTalk || !isIconOnly

function withoutVoiceView(state) {
  if (state.view !== 'expanded' || hasVoiceView(state)) return state
  return { ...state, view: isInCall(state) ? 'transcript' : 'collapsed' }
}

/** Where the widget is when there is no call: not wanted, not loaded, or ready. */
function rest(state) {
  const next = { ...state, call: newCall, problem: null, deadline: null }
  if (!state.isWanted) return unchanged({ ...next, view: 'idle', definition: null, loaded: '', attempt: state.attempt + 1 })
  if (!state.assistant) return unchanged(fail(next, 'initialization', 'no_assistant', ''))
  if (state.definition && isLoaded(state)) {
    // What is open at first: of the talk view only the button, because a page may not be covered before anybody asked for it.
    const isFirst = state.view === 'loading'
    const isOpen = isFirst && state.definition.startState === 'expanded' && !state.isTalk && !state.isIconOnly
    return unchanged({ ...next, view: isOpen ? 'expanded' : 'collapsed' })
  }
  const attempt = state.attempt + 1
  return { state: { ...next, view: 'loading', attempt }, effects: [{ type: 'load', attempt }] }
}

function begin(state, pendingTexts, now) {
  const attempt = state.attempt + 1
  const call = { ...newCall, phase: 'connecting', pendingTexts }
  return {
    state: { ...state, view: 'connecting', attempt, call, problem: null, deadline: now + CONNECT_TIMEOUT_MS },
    effects: [{ type: 'connect', attempt }],
  }
}

function fail(state, kind, code, message, closeCode) {
  const { phase, pendingTexts } = state.call
  const hadBegun = phase === 'connected' || phase === 'reconnecting'
  return { ...state, view: 'error', call: newCall, problem: { kind, code, message: message ?? '', closeCode, hadBegun, pendingTexts }, deadline: null }
}

function withDeadline(state) {
  const { phase, microphone, agentDueAt } = state.call
  if (phase === 'connecting' || phase === 'none') return state
  const times = [microphone.state === 'asking' ? microphone.promptAt : null, agentDueAt].filter((time) => time !== null)
  return { ...state, deadline: times.length ? Math.min(...times) : null }
}

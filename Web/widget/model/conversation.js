// The conversation within a call: assistant, microphone, transcript, cards and onboarding. Pure functions of call, event and time.

import { GONE_MS, MISSING_MS, PROMPT_MS } from '../../shared/waits.js'
import { addLine, applyPlayout, applySegment, emptyTranscript } from '../../shared/transcript-lines.js'

// Older cards disappear.
const MAX_CARDS = 8
const MAX_PENDING_TEXTS = 8

export const newCall = {
  // none, connecting, connected or reconnecting.
  phase: 'none',
  identity: '',
  startedAt: null,
  // `{identity, name, state, isAway}`; null while there is none in the room. `isAway`: its connection is lost and may be resumed.
  agent: null,
  // When the wait for an assistant, or for its return, becomes an absence.
  agentDueAt: null,
  // Why there is no assistant: missing, lost (perhaps still in the room, but away for long) or left.
  absence: null,
  // Why an assistant that was asked for does not come yet: busy or no_worker.
  wait: null,
  // off, unasked (the browser will ask its user, who is told first), asking, prompted (the browser waits for its user), on or failed, then with
  // `code` and `message`.
  microphone: { state: 'off', promptAt: null, code: null, message: '', isMuted: false },
  // Whether the user goes on without a microphone.
  isTyping: false,
  // Why the browser plays nothing and passes on no microphone: gesture or no_output.
  soundBlockage: null,
  isRecorded: false,
  // Whether the user is asked before the call if conversations are kept, and whether this conversation is logged.
  isConsentAsked: false,
  isLogged: false,
  // When the gateway will close the call, in milliseconds; null if it will not.
  closesAt: null,
  // The sentence of a request that was refused.
  refusal: null,
  transcript: emptyTranscript,
  typed: 0,
  // `{id, name}` of those that run.
  tools: [],
  // `{id, kind, title, body, actions, isOwn, status}`; status: open, sending or refused. Actions of the widget's own cards have no title.
  cards: [],
  // none, wanted, asked or done.
  onboarding: 'none',
  // What is sent once the assistant is there.
  pendingTexts: [],
}

/** Whether a text is kept until there is an assistant: not after one has left, because then no other comes. */
export const canQueue = ({ agent, absence, pendingTexts }) => agent === null && absence !== 'left' && pendingTexts.length < MAX_PENDING_TEXTS

export const conversationReducers = {
  room(call, { value }) {
    if (value === 'reconnecting') return { call: { ...call, phase: 'reconnecting', agentDueAt: null } }
    if (value !== 'connected' || call.phase !== 'reconnecting') return { call }
    return { call: { ...call, phase: 'connected' } }
  },

  agentPresent(call, { identity, name, value }) {
    const isNew = call.agent?.identity !== identity
    const isKnown = !isNew && call.agent.name === name && !call.agent.isAway
    // What is in the room at the join counts from then on.
    if (call.phase === 'connecting' || isKnown) return { call }
    const effects = []
    let { onboarding } = call
    // An assistant that replaces a lost one does not know of an earlier request.
    if (onboarding === 'wanted' || (isNew && onboarding === 'asked')) {
      // A user who has asked something gets the answer; the introduction is for another call.
      onboarding = call.pendingTexts.length ? 'done' : 'asked'
      if (onboarding === 'asked') effects.push({ type: 'onboarding' })
    }
    for (const text of call.pendingTexts) effects.push({ type: 'send', text })
    // One that reports no state is as good as ready.
    const agent = { identity, name, state: value ?? 'idle', isAway: false }
    return { call: { ...call, agent, absence: null, wait: null, agentDueAt: null, onboarding, pendingTexts: [] }, effects }
  },
  /** Its connection is lost. It may resume, or be replaced. */
  agentAway(call, { identity, name, value }, now) {
    const isKnown = call.agent?.identity === identity && call.agent.isAway && (call.agentDueAt !== null || call.absence === 'lost')
    if (call.phase === 'connecting' || isKnown) return { call }
    const agent = { identity, name, state: value ?? 'idle', isAway: true }
    return { call: { ...call, agent, absence: null, agentDueAt: now + GONE_MS } }
  },
  agentState: (call, { identity, value }) => ({ call: call.agent?.identity === identity ? { ...call, agent: { ...call.agent, state: value } } : call }),
  agentGone(call, { identity, isIntended }, now) {
    if (call.agent?.identity !== identity) return { call }
    // Another worker may take over.
    const agentDueAt = isIntended ? null : now + MISSING_MS
    return { call: { ...call, agent: null, tools: [], absence: isIntended ? 'left' : 'lost', agentDueAt } }
  },
  /** Nobody is in the room: only after a new join, where the events that told so were missed. */
  agentAwaited: (call, _, now) => ({
    call: call.agent || call.agentDueAt !== null || call.absence ? call : { ...call, agentDueAt: now + MISSING_MS },
  }),

  /** `reason`: null if nothing is known to be awaited, ended if nobody comes any more. */
  agentWaiting(call, { reason }) {
    const isOver = reason === 'ended' && call.agent === null
    const wait = reason === 'ended' ? null : reason
    if (wait === call.wait && !isOver) return { call }
    return { call: { ...call, wait, absence: isOver ? (call.absence ?? 'missing') : call.absence } }
  },

  microphone(call, { value, code = null, message = '' }, now) {
    const promptAt = value === 'asking' ? now + PROMPT_MS : null
    return { call: { ...call, isTyping: value === 'on' ? false : call.isTyping, microphone: { ...call.microphone, state: value, promptAt, code, message } } }
  },
  muted: (call, { isMuted }) => ({ call: { ...call, microphone: { ...call.microphone, isMuted } } }),
  sound: (call, { blockage }) => ({ call: { ...call, soundBlockage: blockage } }),
  recorded: (call, { isActive }) => ({ call: { ...call, isRecorded: isActive } }),
  logged: (call, { isLogged }) => ({ call: call.isLogged === isLogged ? call : { ...call, isLogged } }),
  draining: (call, { closesAt }) => ({ call: { ...call, closesAt } }),
  refused: (call, { message }) => ({ call: call.refusal === message ? call : { ...call, refusal: message } }),

  segment: (call, { segment, name }, now) => ({ call: withTranscript(call, applySegment(call.transcript, segment, name, now)) }),
  playout: (call, { position }) => ({ call: withTranscript(call, applyPlayout(call.transcript, position)) }),
  message: (call, { name, text }, now) => ({ call: line(call, 'message', name, text, now) }),
  /** Ends the introduction: its user knows how to go on. */
  typed(call, { text }, now) {
    const { call: next, effects } = conversationReducers.onboardingSkipped(call)
    return { call: line({ ...next, refusal: null }, 'typed', '', text, now), effects }
  },

  /** A text that was typed before the assistant has joined. */
  queued: (call, { text }) => ({ call: canQueue(call) ? { ...call, pendingTexts: [...call.pendingTexts, text] } : call }),

  toolStarted: (call, { id, name }) => ({ call: { ...call, tools: [...call.tools.filter((tool) => tool.id !== id), { id, name }] } }),
  toolFinished: (call, { id }) => ({ call: withoutTool(call, id) }),
  /** Assistants show a card with the same id, which replaces this one. */
  toolFailed(call, { id, name, message, retry }) {
    const actions = retry ? [{ id: 'retry' }] : []
    return { call: withCard(withoutTool(call, id), { id, kind: 'error', title: name.replace(/[_-]+/g, ' '), body: message, actions, isOwn: true }) }
  },
  card: (call, { card }) => ({ call: withCard(call, card) }),
  cardSending: (call, { id }) => ({ call: withCardStatus(call, id, 'sending') }),
  cardRefused: (call, { id }) => ({ call: withCardStatus(call, id, 'refused') }),
  /** `note` is what the user chose, as a line of the transcript. */
  cardAnswered: (call, { id, note }, now) => ({ call: line(withoutCard(call, id), 'note', '', note, now) }),
  cardDismissed: (call, { id }) => ({ call: withoutCard(call, id) }),

  /** Only an onboarding that was heard to its end is remembered. */
  onboardingFinished(call, { completed }) {
    if (call.onboarding !== 'asked') return { call }
    return { call: { ...call, onboarding: 'done' }, effects: completed ? [{ type: 'remember' }] : [] }
  },
  onboardingSkipped(call) {
    if (call.onboarding !== 'asked') return { call }
    return { call: { ...call, onboarding: 'done' }, effects: [{ type: 'remember' }] }
  },
}

/** The line that is shown large while only voices count: what the assistant says, or what the user just said. */
export function currentLine({ transcript: { lines } }) {
  return lines.findLast(({ kind, text }) => kind !== 'note' && text.trim() !== '') ?? null
}

const withTranscript = (call, transcript) => (transcript === call.transcript ? call : { ...call, transcript })
const withoutTool = (call, id) => ({ ...call, tools: call.tools.filter((tool) => tool.id !== id) })
const withoutCard = (call, id) => ({ ...call, cards: call.cards.filter((card) => card.id !== id) })
const withCardStatus = (call, id, status) => ({ ...call, cards: call.cards.map((card) => (card.id === id ? { ...card, status } : card)) })

function line(call, kind, name, text, at) {
  const typed = call.typed + 1
  return { ...call, typed, transcript: addLine(call.transcript, { id: `own-${typed}`, at, kind, name, text }) }
}

function withCard(call, { id, kind, title, body, actions, isOwn = false }) {
  const card = { id, kind, title, body, actions, isOwn, status: 'open' }
  const index = call.cards.findIndex((other) => other.id === id)
  const cards = index < 0 ? [...call.cards, card].slice(-MAX_CARDS) : call.cards.with(index, card)
  return { ...call, cards }
}

// The page's state and how actions change it. No DOM, no network: a pure function of state and action.

import { problemReducers } from '../../shared/problems.js'

const noList = { state: 'loading', sessions: [], next: null, isLoadingMore: false }
// The gateway makes at most one code per account in this time. It does not say so where that would reveal whether there is an account.
const CODE_INTERVAL_MS = 60_000

const noCode = { isSent: false, nextAt: 0 }
const noDetail = { id: null, state: 'loading', session: null, summary: null, turns: [], recordings: [] }

export const initialState = {
  // starting, login, unconfirmed, consent (asks whether conversations are kept) or in
  stage: 'starting',
  isBusy: false,
  // Who sets a new password: `{email}`, or null.
  reset: null,
  // By purpose: whether a code was sent, and when the next one is possible, in milliseconds.
  codes: { reset: noCode, confirmation: noCode },
  user: null,
  voices: [],
  route: { name: 'list', id: null },
  list: noList,
  detail: noDetail,
  // By key, in order of appearance; `problems.js` has the texts.
  problems: [],
}

const reducers = {
  stage: (state, { stage }) => ({ ...state, stage, isBusy: false, reset: stage === 'login' ? state.reset : null }),
  busy: (state, { isBusy }) => ({ ...state, isBusy }),
  'logged-out': (state) => ({
    ...initialState, stage: 'login', route: state.route, detail: { ...noDetail, id: state.route.id },
    problems: state.problems.filter(({ key }) => key === 'login'),
  }),
  /** A form for this address, to which no code was sent yet; null closes it. */
  reset: (state, { email }) => ({
    ...state, reset: email === null ? null : { email }, codes: { ...state.codes, reset: { ...state.codes.reset, isSent: false } },
    problems: state.problems.filter(({ key }) => key !== 'reset' && key !== 'login'),
  }),
  /** A code is on its way. `seconds`: when the next one is possible, if the gateway said so. */
  'code.sent': (state, { purpose, seconds, at }) => ({
    ...state, codes: { ...state.codes, [purpose]: { isSent: true, nextAt: at + (seconds ? 1000 * seconds : CODE_INTERVAL_MS) } },
  }),
  user: (state, { user }) => ({ ...state, user }),
  voices: (state, { voices }) => ({ ...state, voices }),
  route: (state, { route }) => ({
    ...state, route,
    // The settings do not replace a session.
    detail: route.name === 'settings' || route.id === state.detail.id ? state.detail : { ...noDetail, id: route.id },
    problems: state.problems.filter(({ key }) => key === 'connection' || key === 'login'),
  }),

  'list.loading': (state) => (state.list.sessions.length ? state : { ...state, list: noList }),
  'list.loaded': (state, { sessions, next }) => ({
    ...state, list: { state: 'ready', ...refreshed(state.list, sessions, next), isLoadingMore: false },
  }),
  'list.loading-more': (state) => ({ ...state, list: { ...state.list, isLoadingMore: true } }),
  'list.more': (state, { sessions, next }) => ({ ...state, list: { ...state.list, ...append(state.list.sessions, sessions), next, isLoadingMore: false } }),
  'list.failed': (state) => ({ ...state, list: { ...state.list, state: state.list.sessions.length ? 'ready' : 'failed', isLoadingMore: false } }),
  'session.deleted': (state, { id }) => ({
    ...state,
    list: { ...state.list, sessions: state.list.sessions.filter((session) => session.id !== id) },
    detail: state.detail.id === id ? noDetail : state.detail,
  }),
  'sessions.deleted': (state) => ({ ...state, list: { ...noList, state: 'ready' }, detail: noDetail }),

  'detail.loaded': (state, { id, session, summary, turns, recordings }) =>
    withDetail(state, id, { state: 'ready', session, summary, turns, recordings }, summary?.title),
  'detail.failed': (state, { id, isMissing }) =>
    withDetail(state, id, { state: isMissing ? 'missing' : state.detail.state === 'ready' ? 'ready' : 'failed' }),

  ...problemReducers,
}

export function reduce(state, action) {
  const reducer = reducers[action.type]
  if (!reducer) throw new Error(`no such action: ${action.type}`)
  return reducer(state, action)
}

/** A session that started meanwhile shifts the pages, so a page may repeat sessions. */
function append(known, more) {
  const ids = new Set(known.map(({ id }) => id))
  return { sessions: [...known, ...more.filter(({ id }) => !ids.has(id))] }
}

/** The first page again. What was loaded beyond it stays. */
function refreshed({ sessions: known, next: knownNext }, sessions, next) {
  const last = known.findIndex(({ id }) => id === sessions.at(-1)?.id)
  const rest = last < 0 ? [] : known.slice(last + 1)
  return rest.length ? { ...append(sessions, rest), next: knownNext } : { sessions, next }
}

/** Ignores what arrives for a session that is no longer shown. A new title also appears in the list. */
function withDetail(state, id, values, title) {
  if (state.detail.id !== id) return state
  const sessions = title ? state.list.sessions.map((session) => (session.id === id && session.title !== title ? { ...session, title } : session)) : state.list.sessions
  return { ...state, detail: { ...state.detail, ...values }, list: { ...state.list, sessions } }
}

/** Whether something is still to come: the session runs, or its summary is being made. */
export const isGrowing = ({ state, session }) => state === 'ready' && (session.ended_at === null || session.summary_status === 'pending')

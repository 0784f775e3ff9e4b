// The page's state and how actions change it. No DOM, no network: a pure function of state and action.

const noList = { state: 'loading', sessions: [], next: null, isLoadingMore: false }
const noDetail = { id: null, state: 'loading', session: null, summary: null, turns: [], recordings: [] }

export const initialState = {
  // starting, login, unconfirmed or in
  stage: 'starting',
  isBusy: false,
  user: null,
  voices: [],
  route: { name: 'list', id: null },
  list: noList,
  detail: noDetail,
  // By key, in order of appearance; `problems.js` has the texts.
  problems: [],
}

const reducers = {
  stage: (state, { stage }) => ({ ...state, stage, isBusy: false }),
  busy: (state, { isBusy }) => ({ ...state, isBusy }),
  'logged-out': (state) => ({
    ...initialState, stage: 'login', route: state.route, detail: { ...noDetail, id: state.route.id },
    problems: state.problems.filter(({ key }) => key === 'login'),
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
  'list.loaded': (state, { sessions, next }) => ({ ...state, list: { state: 'ready', sessions, next, isLoadingMore: false } }),
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

  'problem.add': (state, { type, at, ...problem }) => ({
    ...state, problems: [...state.problems.filter(({ key }) => key !== problem.key), { ...problem, since: at }],
  }),
  'problem.remove': (state, { key }) =>
    state.problems.some((problem) => problem.key === key) ? { ...state, problems: state.problems.filter((problem) => problem.key !== key) } : state,
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

/** Ignores what arrives for a session that is no longer shown. A new title also appears in the list. */
function withDetail(state, id, values, title) {
  if (state.detail.id !== id) return state
  const sessions = title ? state.list.sessions.map((session) => (session.id === id && session.title !== title ? { ...session, title } : session)) : state.list.sessions
  return { ...state, detail: { ...state.detail, ...values }, list: { ...state.list, sessions } }
}

/** Whether something is still to come: the session runs, or its summary is being made. */
export const isGrowing = ({ state, session }) => state === 'ready' && (session.ended_at === null || session.summary_status === 'pending')

// The page's state and its reducers. No DOM, no network: a pure function of state and action.

import { problemReducers } from '../../shared/problems.js'

const noList = { state: 'loading', list: [], next: null }

export const ROUTES = ['favourites', 'recents', 'contacts']
/** The number of sent tones to show, and of received ones. */
export const DIGITS_SHOWN = 32

const noCalls = {
  // The calls of patchbay.js, on this device and on other devices of the user.
  calls: [],
  elsewhere: [],
  // Audio by call: `{room, microphone}`. Room: connecting, connected, reconnecting or lost. Microphone: off, waiting or on.
  audio: {},
  // The id of the call on the screen, or null.
  shown: null,
  isMinimized: false,
  hasKeypad: false,
  // The tones sent in the shown call.
  digits: '',
  // The party that the page is asking the gateway to call: `{address}`, or null.
  dialing: null,
}

export const initialState = {
  // starting, login, consent (asks whether conversations are kept) or in
  stage: 'starting',
  isBusy: false,
  user: null,
  route: 'recents',
  // disconnected, connecting, connected or reconnecting
  channel: 'disconnected',
  contacts: noList,
  recents: noList,
  // Details of parties, learned from calls: `{address?, name?}`.
  people: {},
  ...noCalls,
  // Problems by key, in order of appearance; `problems.js` has their texts.
  problems: [],
}

const reducers = {
  stage: (state, { stage }) => ({ ...state, stage, isBusy: false }),
  busy: (state, { isBusy }) => ({ ...state, isBusy }),
  user: (state, { user }) => ({ ...state, user }),
  route: (state, { route }) => ({ ...state, route: ROUTES.includes(route) ? route : 'recents' }),
  'logged-out': (state) => ({ ...initialState, stage: 'login', route: state.route, problems: state.problems.filter(({ key }) => key === 'login') }),
  channel: (state, { value }) => ({ ...state, channel: value }),

  contacts: (state, { contacts }) => ({ ...state, contacts: { ...noList, state: 'ready', list: contacts } }),
  recents: (state, { entries, next }) => ({ ...learnCallers(state, entries), recents: { state: 'ready', list: entries, next } }),
  'recents.more': (state, { entries, next }) => {
    const known = new Set(state.recents.list.map(({ id, ended_at }) => id + ended_at))
    const list = [...state.recents.list, ...entries.filter(({ id, ended_at }) => !known.has(id + ended_at))]
    return { ...learnCallers(state, entries), recents: { state: 'ready', list, next } }
  },
  'lists.failed': (state) => ({ ...state, contacts: failed(state.contacts), recents: failed(state.recents) }),

  dialing: (state, { address }) => ({ ...state, dialing: address === null ? null : { address } }),
  /** The gateway has resolved an address to this party. */
  'party.known': (state, { party, address }) => ({ ...state, people: { ...state.people, [party]: { ...state.people[party], address } } }),

  calls: (state, { calls, elsewhere }) => {
    const people = { ...state.people }
    for (const { caller, callerName } of [...calls, ...elsewhere]) if (callerName && caller !== state.user?.id) people[caller] = { ...people[caller], name: callerName }
    const audio = Object.fromEntries(Object.entries(state.audio).filter(([id]) => calls.some((call) => call.id === id)))
    return withShown({ ...state, people, audio, calls, elsewhere }, state)
  },
  audio: (state, { id, values }) => ({ ...state, audio: { ...state.audio, [id]: { room: 'connecting', microphone: 'off', ...state.audio[id], ...values } } }),
  show: (state, { id }) => (callOf(state, id) ? show(state, id) : state),
  minimized: (state, { isMinimized }) => ({ ...state, isMinimized: isMinimized && state.shown !== null }),
  keypad: (state, { isOpen }) => ({ ...state, hasKeypad: isOpen }),
  digit: (state, { digit }) => ({ ...state, digits: (state.digits + digit).slice(-DIGITS_SHOWN) }),

  ...problemReducers,
}

export function reduce(state, action) {
  const reducer = reducers[action.type]
  if (!reducer) throw new Error(`There is no action ${action.type}.`)
  return reducer(state, action)
}

/** The calls that are ringing on this device. */
export const ringing = ({ calls }) => calls.filter(isRinging)
/** The calls that the user has joined or started. */
export const joined = ({ calls }) => calls.filter((call) => !isRinging(call))
export const callOf = ({ calls }, id) => calls.find((call) => call.id === id) ?? null
export const shownCall = (state) => callOf(state, state.shown)
/** The calls to hold before the user talks in another one. */
export const talking = (state) => joined(state).filter(({ heldByUs }) => !heldByUs)

const isRinging = ({ direction, state }) => direction === 'incoming' && state === 'connecting'
const failed = (list) => ({ ...list, state: list.list.length ? 'ready' : 'failed' })
const show = (state, id) => ({ ...state, shown: id, isMinimized: false, ...(id === state.shown ? {} : { hasKeypad: false, digits: '' }) })

/** Shows a call that the user has just started or answered. When the shown call ends, shows another one, if any. */
function withShown(state, previous) {
  const known = new Set(joined(previous).map(({ id }) => id))
  const calls = joined(state)
  const begun = calls.find(({ id }) => !known.has(id))
  if (begun) return show(state, begun.id)
  if (calls.some(({ id }) => id === state.shown)) return state
  const next = calls.find(({ heldByUs }) => !heldByUs) ?? calls[0]
  return next ? show(state, next.id) : { ...state, shown: null, isMinimized: false, hasKeypad: false, digits: '' }
}

function learnCallers(state, entries) {
  const people = { ...state.people }
  for (const { caller, caller_name: name } of entries) {
    if (name && caller !== state.user?.id) people[caller] = { name, ...people[caller] }
  }
  return { ...state, people }
}

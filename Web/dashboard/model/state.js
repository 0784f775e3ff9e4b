// The page's state and how actions change it. No DOM, no network: a pure function of state and action. Samples are in `history.js`.

import { problemReducers } from '../../shared/problems.js'

const noRoom = { name: null, state: 'loading', detail: null, log: null }

export const initialState = {
  // How the page administers: unknown, none, development, key or token
  access: 'unknown',
  isBusy: false,
  // waiting, live, hidden (the gateway does not publish them here) or unreachable
  metrics: 'waiting',
  // Increases with each sample.
  sample: 0,
  version: '',
  // Minutes that plots show.
  span: 5,
  // locked, loading, ready
  rooms: { state: 'loading', items: [], at: null },
  filter: '',
  // `view`: the response of `GET /v1/operations`. `state`: locked (the token does not suffice), absent (an older gateway), loading or ready.
  operations: { state: 'loading', view: null },
  // In a cluster: `items`, its nodes, null without one or before they are known; `chosen`, the name of the node that the address names;
  // `shown`, that of the node whose figures, plots and operations are shown; `isMissing`: it does not run.
  nodes: { items: null, chosen: null, shown: null, isMissing: false },
  // locked, loading, ready, gone
  room: noRoom,
  problems: [],
}

const reducers = {
  access: (state, { access }) => ({ ...state, access, rooms: access === 'none' ? initialState.rooms : state.rooms, operations: access === 'none' ? initialState.operations : state.operations, nodes: access === 'none' ? { ...initialState.nodes, chosen: state.nodes.chosen, shown: state.nodes.chosen } : state.nodes }),
  busy: (state, { isBusy }) => ({ ...state, isBusy }),
  span: (state, { span }) => ({ ...state, span }),
  filter: (state, { filter }) => ({ ...state, filter }),

  'metrics.sampled': (state, { version }) => ({ ...state, metrics: 'live', sample: state.sample + 1, version }),
  'metrics.failed': (state, { metrics }) => (state.metrics === metrics ? state : { ...state, metrics }),

  // Samples of the gateway's history were added: from before the page was opened, or because it does not publish metrics.
  'metrics.restored': (state, { metrics = state.metrics }) => ({ ...state, metrics, sample: state.sample + 1 }),

  'operations.loaded': (state, { view }) => ({ ...state, operations: { state: 'ready', view }, nodes: nodesOf(state.nodes, view) }),
  'operations.failed': (state, { value }) => ({ ...state, operations: { state: value, view: null } }),

  // Another node answers when the figures are asked for next; without a name, any.
  'node.choose': (state, { name }) => (name === state.nodes.chosen ? state : { ...state, nodes: { ...state.nodes, chosen: name, shown: name, isMissing: false } }),
  // The chosen node does not run; `nodes` are those that do.
  'node.missing': (state, { name, nodes }) => ({ ...state, operations: { state: 'absent', view: null }, nodes: { ...state.nodes, items: nodes, shown: name, isMissing: true } }),

  'rooms.loaded': (state, { rooms, at }) => ({ ...state, rooms: { state: 'ready', items: rooms, at } }),
  'rooms.locked': (state) => ({ ...state, rooms: { ...state.rooms, state: 'locked', items: [] } }),

  'room.show': (state, { name }) => (state.room.name === name ? state : { ...state, room: { ...noRoom, name } }),
  'room.loaded': (state, { name, detail, log }) => withRoom(state, name, { state: 'ready', detail, log }),
  // What was known of it stays visible.
  'room.gone': (state, { name }) => withRoom(state, name, { state: 'gone' }),
  'room.locked': (state, { name }) => withRoom(state, name, { state: 'locked', detail: null, log: null }),

  ...problemReducers,
  'problem.add'(state, action) {
    const known = state.problems.find(({ key }) => key === action.key)
    return known && known.code === action.code && !action.isNew ? state : problemReducers['problem.add'](state, action)
  },
}

export function reduce(state, action) {
  const reducer = reducers[action.type]
  if (!reducer) throw new Error(`no such action: ${action.type}`)
  return reducer(state, action)
}

/** Without a cluster, there is nothing to choose. */
function nodesOf({ chosen }, { node = null, nodes = null }) {
  return nodes ? { items: nodes, chosen, shown: node, isMissing: false } : initialState.nodes
}

function withRoom(state, name, values) {
  return state.room.name === name ? { ...state, room: { ...state.room, ...values } } : state
}

/** What a room is for, by its name: the gateway names those of calls and sessions. */
export function kindOf(name) {
  return name.startsWith('call-') ? 'call' : name.startsWith('session-') ? 'session' : 'room'
}

/** The rooms that the filter lets through: those where somebody talks first, then the fullest, then the newest. */
export function visibleRooms({ rooms, filter }) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return rooms.items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))).sort((one, other) =>
    Math.sign(other.num_speakers ?? 0) - Math.sign(one.num_speakers ?? 0) || other.num_participants - one.num_participants || other.created_at - one.created_at)
}

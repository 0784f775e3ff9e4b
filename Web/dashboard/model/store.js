// The page's store, and the samples of the last hour beside it.

import { Store } from '../../shared/store.js'
import { History } from './history.js'
import { initialState, reduce } from './state.js'

/** The page asks at most this often. */
export const INTERVAL_MS = 2000
/** For the room that is shown: whether its participants are still connected is noticed within this time. */
export const ROOM_INTERVAL_MS = 1000
export const HISTORY_MS = 3_600_000

export const store = new Store(initialState, reduce)
export const history = new History(HISTORY_MS / INTERVAL_MS)

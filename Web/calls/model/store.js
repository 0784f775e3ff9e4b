// The page's store, with the reducers of `state.js`.

import { Store } from '../../shared/store.js'
import { initialState, reduce } from './state.js'

export const store = new Store(initialState, reduce)

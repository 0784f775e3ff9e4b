// The page's store: `state.js` decides how actions change it.

import { Store } from '../../shared/store.js'
import { initialState, reduce } from './state.js'

export const store = new Store(initialState, reduce)

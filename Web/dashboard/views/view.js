// What the page's views share.

import { viewOf } from '../../shared/store.js'
import { store } from '../model/store.js'

export * from '../../shared/elements.js'

export const View = viewOf(store)

// What a phone lets its user feel in the talk view: a conversation begins, it is ended, something failed.

import { isInCall } from './machine.js'

const BEGIN = [20]
const END = [10]
const FAILURE = [20, 60, 20]

/** The pattern of a change in milliseconds, for `navigator.vibrate`, or null. */
export function vibrationOf(state, previous) {
  const isFailure = (card) => card.kind === 'error' && !previous.call.cards.some(({ id }) => id === card.id)
  if ((state.view === 'error' && previous.view !== 'error') || state.call.cards.some(isFailure)) return FAILURE
  if (isInCall(state) && !isInCall(previous)) return BEGIN
  return isInCall(previous) && !isInCall(state) ? END : null
}

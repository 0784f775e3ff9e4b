// The base class of the page's views, and the labels for the state of a call.

import { viewOf } from '../../shared/store.js'
import { store } from '../model/store.js'

export * from '../../shared/elements.js'

export const View = viewOf(store)

/** The label for a call's state, and the tone of its pill. */
export function statusOf(call, audio) {
  if (call.state === 'connecting') {
    if (call.direction === 'incoming') return { text: 'Calling you', tone: 'busy' }
    return call.status === 'ringing' ? { text: 'Ringing…', tone: 'busy' } : { text: 'Calling…', tone: 'busy' }
  }
  if (audio?.room === 'reconnecting') return { text: 'Reconnecting…', tone: 'warning' }
  if (audio?.room === 'lost') return { text: 'Connection lost', tone: 'danger' }
  if (call.heldByUs) return { text: 'On hold', tone: 'warning' }
  if (call.heldByOthers) return { text: 'They put you on hold', tone: 'warning' }
  return audio?.room === 'connected' ? { text: 'Connected', tone: 'good' } : { text: 'Connecting…', tone: 'busy' }
}

/** The element to focus when a call ends whose controls have the focus: the page's message about it. */
export const focusAfterCall = () => /** @type {HTMLElement} */ (document.querySelector('main > problem-list button') ?? document.getElementById('main')).focus()

/** Sets a toggle's state for screen readers and styles. */
export function setPressed(button, isPressed) {
  button.setAttribute('aria-pressed', String(isPressed))
}

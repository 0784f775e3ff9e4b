// What the page's views share: the base class, dates, and forms.

import { h } from '../../shared/elements.js'
import { viewOf } from '../../shared/store.js'
import { store } from '../model/store.js'

export * from '../../shared/elements.js'

export const View = viewOf(store)

/** Formats for dates, in the user's time zone if there is one. */
export function dateFormats(user) {
  const timeZone = user?.settings.time_zone || undefined
  const make = (options) => {
    try {
      return new Intl.DateTimeFormat(undefined, { ...options, timeZone })
    } catch {
      // A zone that this browser does not know.
      return new Intl.DateTimeFormat(undefined, options)
    }
  }
  return {
    long: make({ dateStyle: 'full', timeStyle: 'short' }), short: make({ dateStyle: 'medium', timeStyle: 'short' }), time: make({ timeStyle: 'medium' }),
  }
}

/** How long a session took, in words; null while it runs. */
export function length({ started_at, ended_at }) {
  if (ended_at === null) return null
  const minutes = Math.round((Date.parse(ended_at) - Date.parse(started_at)) / 60_000)
  if (minutes < 1) return 'under a minute'
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A checkbox with its label on the right. */
export function checkbox(label, input, hint) {
  const box = h('label', { class: 'check' }, input, h('span', {}, h('span', { text: label }), hint ? h('span', { class: 'hint', text: hint }) : null))
  return box
}

export function markInvalid(inputs, name) {
  for (const [key, input] of Object.entries(inputs)) {
    if (key === name) input.setAttribute('aria-invalid', 'true')
    else input.removeAttribute('aria-invalid')
  }
}

// Where the focus is, whether it can be seen, and what Tab should reach.

import { everything, settle } from './accessibility.js'

// Of a tour.
let reached = []
let expected = []

const parent = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host
const within = (element, outer) => { while (element && element !== outer) element = parent(element); return element === outer }

/** The focused element, also in shadow roots; null if there is none. */
export function focused() {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element === document.body || element === document.documentElement ? null : element
}

export const focusedName = () => (focused() ? name(focused()) : null)

export function name(element) {
  const root = element.getRootNode()
  const labelledBy = element.getAttribute('aria-labelledby')?.split(' ').map((id) => root.getElementById(id)?.textContent).join(' ')
  const own = ['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName) ? element.labels?.[0]?.textContent : element.textContent
  return (element.getAttribute('aria-label') || labelledBy || own || element.tagName).trim()
}

/** Focuses the first or the last stop, and forgets what was reached. */
export function begin(isBackward) {
  reached = []
  expected = stops()
  expected.at(isBackward ? -1 : 0).focus()
}

/** Notes the focused element: `{name, fault}`, or null if there is none, or if it was reached before. */
export function step() {
  const element = focused()
  if (!element || reached.includes(element)) return null
  reached.push(element)
  return { name: name(element), fault: fault(element) }
}

/** Names of the stops that were not reached, though they are still there. */
export function missed() {
  const now = new Set(stops())
  return expected.filter((element) => now.has(element) && !reached.includes(element)).map(name)
}

/** What Tab has to reach: of radio buttons, the chosen one. */
function stops() {
  const elements = [...everything(document)]
  const modal = elements.findLast((element) => element.matches('dialog:modal'))
  return elements.filter((element) => element.matches('a[href], button, input, select, textarea, summary, [tabindex]') && element.tabIndex >= 0
    && !element.disabled && element.checkVisibility({ visibilityProperty: true })
    && (element.type !== 'radio' || element.checked) && (!modal || within(element, modal)))
}

/** Why it cannot be seen that an element has the focus; null if it can. */
export function fault(element) {
  settle()
  // Switches made of radio buttons draw it around the text that follows.
  const hasOutline = [element, element.nextElementSibling].some((one) => {
    const { outlineStyle, outlineWidth } = one ? getComputedStyle(one) : {}
    return one && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
  })
  if (!hasOutline) return 'shows no focus'
  const { left, right, top, bottom, width, height } = element.getBoundingClientRect()
  if (width < 1 || height < 1 || right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return 'is focused outside of the window'
  const points = [[0.5, 0.5], [0.05, 0.5], [0.95, 0.5], [0.5, 0.1], [0.5, 0.9]].map(([x, y]) => [left + x * width, top + y * height])
  return points.some(([x, y]) => isAt(element, x, y)) ? null : 'is focused behind something else'
}

function isAt(element, x, y) {
  let found = document.elementFromPoint(x, y)
  while (found?.shadowRoot?.elementFromPoint(x, y) && found.shadowRoot.elementFromPoint(x, y) !== found) found = found.shadowRoot.elementFromPoint(x, y)
  return found !== null && (within(found, element) || (found.closest('label')?.contains(element) ?? false))
}

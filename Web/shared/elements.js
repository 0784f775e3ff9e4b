// What views of all pages share: elements made without HTML texts, fields, panels and canvases.

/**
 * Creates an element. Functions are listeners, by names such as `onclick`; `text` is the text content, `class` and all others are attributes;
 * false and null leave an attribute out. Children are elements or texts, never HTML.
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (name === 'text') element.textContent = value
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== null && child !== undefined))
  return element
}

/** Makes a change in `view`. If that removes or hides what has the focus, the element that `place` returns gets it. */
export function keepFocus(view, change, place) {
  const hadFocus = view.contains(document.activeElement)
  change()
  if (hadFocus && !(view.contains(document.activeElement) && document.activeElement.checkVisibility())) place().focus()
}

/** Turns a button off or on. While it has the focus, it keeps it, which `disabled` would take away, and only ignores clicks and keys. */
export function setDisabled(button, isDisabled) {
  const keepsFocus = isDisabled && button.getRootNode().activeElement === button
  button.disabled = isDisabled && !keepsFocus
  button.addEventListener('click', ignoreDisabled, { capture: true })
  button.ariaDisabled = keepsFocus ? 'true' : null
}

function ignoreDisabled(event) {
  if (event.currentTarget.ariaDisabled !== 'true') return
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** Sets a text only if it differs, so that screen readers and selections are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Sets attributes only if they differ. An empty value removes the attribute. */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (!value) element.removeAttribute(name)
    else if (element.getAttribute(name) !== value) element.setAttribute(name, value)
  }
}

let lastId = 0
export const uniqueId = (prefix) => `${prefix}-${++lastId}`

/** A label above a control, with an optional hint that is read with it. */
export function field(label, control, hint) {
  control.id ||= uniqueId('field')
  const parts = [h('label', { for: control.id, text: label }), control]
  if (hint) {
    hint.id ||= uniqueId('hint')
    hint.classList.add('hint')
    control.setAttribute('aria-describedby', hint.id)
    parts.push(hint)
  }
  return h('div', { class: 'field' }, ...parts)
}

/** A panel that opens and closes. */
export function panel(title, { isOpen = false } = {}, ...children) {
  return h('details', { class: 'panel', open: isOpen }, h('summary', {}, h('h2', { text: title })), h('div', { class: 'panel-body' }, ...children))
}

export function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

/** Null where modules are loaded and nothing is shown: on servers. */
export const mediaQuery = (query) => (typeof matchMedia === 'undefined' ? null : matchMedia(query))

export const prefersReducedMotion = mediaQuery('(prefers-reduced-motion: reduce)')

/** A canvas of the size that it has on the screen; returns its context in CSS pixels, cleared, or null while it is not visible. */
export function prepareCanvas(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas
  if (!width || !height) return null
  const ratio = devicePixelRatio || 1
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h })
  const context = canvas.getContext('2d')
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return { context, width, height }
}

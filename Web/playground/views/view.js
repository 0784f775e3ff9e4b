// What views share: a base class that follows the store, fields and panels.

import { h, uniqueId } from '../../common/elements.js'
import { store } from '../model/store.js'

export { h, prefersReducedMotion, prepareCanvas, setText, uniqueId } from '../../common/elements.js'

/** A view: `build` creates its content once, `update` is called with each new state. */
export class View extends HTMLElement {
  #stop = null

  connectedCallback() {
    if (!this.hasChildNodes()) this.build()
    this.#stop = store.subscribe((state, previous) => this.update(state, previous))
    this.update(store.state, null)
  }

  disconnectedCallback() {
    this.#stop?.()
  }

  build() {}
  update() {}
}

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
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

// Refreshes the list when it is pulled down on a touch screen. The button "Refresh" does the same.

import { REFRESH_PX, pullOf } from '../model/pull.js'
import { h, setText } from './view.js'

export class PullToRefresh {
  #text = h('span')
  element = h('div', { class: 'pull', 'aria-hidden': 'true', hidden: true }, this.#text)
  #list
  #refresh
  // The finger's initial position; null without a touch, or if the list was scrolled.
  #from = null
  #isFar = false

  /** `list` has the pull indicator as its first child; `refresh` returns a promise. */
  constructor(list, refresh) {
    this.#list = list
    this.#refresh = refresh
    list.addEventListener('touchstart', ({ touches }) => this.#begin(touches), { passive: true })
    list.addEventListener('touchmove', (event) => this.#move(event), { passive: false })
    for (const end of ['touchend', 'touchcancel']) list.addEventListener(end, () => this.#end(end === 'touchend'))
  }

  #begin(touches) {
    const isAtTop = this.#list.scrollTop <= 0 && document.scrollingElement.scrollTop <= 0
    this.#from = touches.length === 1 && isAtTop ? touches[0].clientY : null
  }

  #move(event) {
    if (this.#from === null || event.touches.length !== 1) return
    const { offset, isFar } = pullOf(event.touches[0].clientY - this.#from)
    if (offset === 0 && this.element.hidden) return
    // Prevent the page from scrolling and the browser from reloading.
    if (event.cancelable) event.preventDefault()
    this.#isFar = isFar
    this.#show(offset, isFar ? 'Release to refresh' : 'Pull to refresh')
  }

  async #end(isReleased) {
    if (this.#from === null || this.element.hidden) return
    this.#from = null
    if (isReleased && this.#isFar) {
      this.#show(REFRESH_PX, 'Refreshing…')
      await this.#refresh()
    }
    this.#isFar = false
    this.element.hidden = true
  }

  #show(height, text) {
    this.element.hidden = false
    this.element.style.height = `${height}px`
    setText(this.#text, text)
  }
}

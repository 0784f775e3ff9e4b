// The one place where state changes: actions go in, the reducer decides, subscribers are told.

import { initialState, reduce } from './state.js'

class Store {
  #state = initialState
  #listeners = new Set()
  #queue = []
  #isNotifying = false

  get state() {
    return this.#state
  }

  /** Applies an action. Actions that listeners dispatch are applied after all listeners have seen this one. */
  dispatch(type, values = {}) {
    this.#queue.push({ type, at: Date.now(), ...values })
    if (this.#isNotifying) return
    this.#isNotifying = true
    try {
      while (this.#queue.length) this.#apply(this.#queue.shift())
    } finally {
      this.#isNotifying = false
    }
  }

  #apply(action) {
    const previous = this.#state
    this.#state = reduce(previous, action)
    if (this.#state === previous) return
    for (const listener of this.#listeners) listener(this.#state, previous)
  }

  /** Calls back after each change with the new and the previous state. Returns a function that stops it. */
  subscribe(listener) {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export const store = new Store()

// A page's state, and views that follow it: actions go in, a reducer decides, subscribers are told.

export class Store {
  #state
  #reduce
  #listeners = new Set()
  #queue = []
  #isNotifying = false

  constructor(initialState, reduce) {
    this.#state = initialState
    this.#reduce = reduce
  }

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
    this.#state = this.#reduce(previous, action)
    if (this.#state === previous) return
    for (const listener of this.#listeners) listener(this.#state, previous)
  }

  /** Calls back after each change with the new and the previous state. Returns a function that stops it. */
  subscribe(listener) {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The base class of a page's views: `build` creates the content once, `update` is called with each new state. */
export function viewOf(store) {
  return class extends HTMLElement {
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

    update(_state, _previous) {}
  }
}

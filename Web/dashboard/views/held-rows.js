// Rows that stay in place under the pointer and the focus.

import { arrange } from '../model/order.js'

export class HeldRows {
  #list
  #limit
  #create
  #fill
  #removesGone
  // `{element, …}` by key, in the order of the list.
  #rows = new Map()
  #items = new Map()

  /**
   * @param {HTMLElement} list
   * @param {{ limit: number, create: (item: any) => any, fill: (row: any, item: any) => void, removesGone?: boolean }} options
   *   `create` returns `{element, …}`. `removesGone`: rows without an item are removed even if rows are held.
   */
  constructor(list, { limit, create, fill, removesGone = false }) {
    this.#list = list
    this.#limit = limit
    this.#create = create
    this.#fill = fill
    this.#removesGone = removesGone
    list.addEventListener('pointerleave', () => this.#arrange())
    // The focus may move to another row.
    list.addEventListener('focusout', () => setTimeout(() => this.#arrange()))
  }

  get(key) {
    return this.#rows.get(key)
  }

  /** @param {Map<string, any>} items by key, in the wanted order */
  show(items) {
    this.#items = items
    this.#arrange()
  }

  #arrange() {
    const isHeld = this.#list.matches(':hover') || this.#list.contains(document.activeElement)
    const known = [...this.#rows.keys()].filter((key) => !this.#removesGone || this.#items.has(key))
    const order = arrange(known, [...this.#items.keys()], isHeld, this.#limit)
    const rows = new Map(order.map((key) => [key, this.#rows.get(key) ?? this.#create(this.#items.get(key))]))
    for (const [key, { element }] of this.#rows) if (!rows.has(key)) element.remove()
    this.#rows = rows
    let before = this.#list.firstElementChild
    for (const [key, row] of rows) {
      const item = this.#items.get(key)
      row.element.toggleAttribute('data-gone', item === undefined)
      if (item !== undefined) this.#fill(row, item)
      if (row.element === before) before = before.nextElementSibling
      else this.#list.insertBefore(row.element, before)
    }
  }
}

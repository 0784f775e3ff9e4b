// The language of the page around the widget, as HTML defines it, and its changes.

/** The nearest `lang`: of the element, an ancestor, or a host of the shadow roots around it. Empty if there is none. */
export function languageAt(element) {
  for (let node = element; node; node = node.parentNode ?? node.host) {
    const language = node.getAttribute?.('lang')
    if (typeof language === 'string') return language
  }
  return ''
}

/** Calls back when a `lang` changes that may be the element's. */
export class LanguageObserver {
  #observer

  constructor(changed) {
    this.#observer = new MutationObserver(changed)
  }

  /** To be called again when the element was moved. */
  observe(element) {
    this.#observer.disconnect()
    for (let root = element.getRootNode(); root; root = root.host?.getRootNode()) {
      this.#observer.observe(root, { subtree: true, attributes: true, attributeFilter: ['lang'] })
    }
  }

  disconnect() {
    this.#observer.disconnect()
  }
}

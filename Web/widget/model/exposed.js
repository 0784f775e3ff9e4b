// What the element tells its page: settings and transcript, as values that are never changed.

/** The definition with the element's `appearance`; null before it is loaded. */
export function settingsOf(definition, { theme, color }) {
  if (!definition) return null
  const { id, name, voice, language, startText, thinkingText, interruptText, logo, startState, preset } = definition
  const quickCommands = Object.freeze([...definition.quickCommands])
  return Object.freeze({
    id, name, voice, language, startText, thinkingText, interruptText, logoUrl: logo, startState, theme, visualizer: color, visualizerPreset: preset, quickCommands,
  })
}

/** The lines of a call as `{id, text, isUser, timestamp, isFinal}`. Items that did not change stay the same objects. */
export class TranscriptItems {
  items = Object.freeze([])
  // By line id.
  #known = new Map()

  /** Returns the items that are new or have another text. */
  update(lines) {
    const known = new Map()
    const changed = []
    for (const { id, at, kind, text, isFinal = true } of lines) {
      if (text.trim() === '') continue
      const isUser = kind === 'user' || kind === 'typed' || kind === 'note'
      let item = this.#known.get(id)
      if (item?.text !== text || item.isFinal !== isFinal) {
        item = Object.freeze({ id, text, isUser, timestamp: new Date(at), isFinal })
        changed.push(item)
      }
      known.set(id, item)
    }
    this.#known = known
    if (changed.length) this.items = Object.freeze([...known.values()])
    return changed
  }

  /** Returns whether there was something. */
  clear() {
    const hadItems = this.items.length > 0
    this.#known.clear()
    this.items = Object.freeze([])
    return hadItems
  }
}

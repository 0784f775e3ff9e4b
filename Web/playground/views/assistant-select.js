// The selection of an assistant, from the list or by id.

import { lookUpAssistant } from '../model/commands.js'
import { texts } from '../model/language.js'
import { store } from '../model/store.js'
import { field, h, setText } from './view.js'

const LOOK_UP_DELAY_MS = 300
// A value that is not a valid id.
const OTHER = '?'
const DEFAULT_ID = 'default'

export class AssistantSelect {
  #select = h('select', { onchange: () => this.#chosen() })
  #id = h('input', { type: 'text', placeholder: DEFAULT_ID, autocomplete: 'off', spellcheck: 'false', maxlength: 64, pattern: '[A-Za-z0-9_\\-]*', dir: 'auto' })
  #idHint = h('p', { dir: 'auto' })
  #idField = field(texts.start.otherId, this.#id, this.#idHint)
  #shown = null
  #hasChosen = false
  #timer = 0
  element = h('div', { class: 'stack tight' }, field(texts.start.assistant, this.#select), this.#idField)

  constructor() {
    this.#id.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => lookUpAssistant(this.#id.value || DEFAULT_ID), LOOK_UP_DELAY_MS)
    })
  }

  /** The id to call; undefined lets the gateway choose. */
  get value() {
    return (this.#select.value === OTHER ? this.#id.value.trim() : this.#select.value) || undefined
  }

  /** The default voice of the selected assistant, if known. */
  ownVoice({ mode, assistants, assistant }) {
    if (this.#select.value === OTHER) return assistant?.voice ?? ''
    return assistants[mode]?.find(({ id }) => id === this.#select.value)?.voice ?? ''
  }

  update({ mode, assistants, assistant }) {
    const list = assistants[mode] ?? []
    if (list !== this.#shown) this.#show(list)
    this.#idField.hidden = this.#select.value !== OTHER
    const isMissing = assistant?.isMissing ?? false
    if (isMissing) this.#id.setAttribute('aria-invalid', 'true')
    else this.#id.removeAttribute('aria-invalid')
    const about = [assistant?.name, assistant?.language].filter(Boolean).join(', ')
    setText(this.#idHint, isMissing ? texts.start.missing(assistant.id) : about || texts.start.idHint)
  }

  /** Keeps what the user has chosen. Until then, the default assistant is selected, unless only others are connected. */
  #show(list) {
    const chosen = this.#hasChosen ? this.#select.value : ''
    this.#shown = list
    const known = list.length ? list : [{ id: DEFAULT_ID, name: DEFAULT_ID, connected: true }]
    this.#select.replaceChildren(
      ...known.map(({ id, name, connected }) => {
        const label = name && name !== id ? `${name} (${id})` : id
        return h('option', { value: id, text: connected ? label : texts.start.notConnected(label) })
      }),
      h('option', { value: OTHER, text: texts.start.other }))
    const connected = known.filter((one) => one.connected)
    const candidates = connected.length ? connected : known
    const usual = candidates.find(({ id }) => id === DEFAULT_ID) ?? candidates[0]
    this.#select.value = chosen === OTHER || known.some(({ id }) => id === chosen) ? chosen : usual.id
  }

  #chosen() {
    this.#hasChosen = true
    store.dispatch('start.assistant', { assistant: null })
    this.update(store.state.start)
    if (this.#select.value === OTHER) this.#id.focus()
  }
}

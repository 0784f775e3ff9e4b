// The view of the element: a button whose name and action follow the state, progress in percent, and the reason of a failure.

import { h, setAttributes, setDisabled, setText } from '../shared/elements.js'
import { icon, setIcon } from '../widget/views/icons.js'
import { describe } from './texts.js'

const icons = { checking: 'voice', idle: 'voice', generating: 'close', completed: 'play', failed: 'retry' }

// The length of the text excerpt in the button's name, in characters.
const EXCERPT_MAX = 60

export class View {
  #icon = icon('voice')
  #label = h('span')
  #button
  #bar = h('div', { class: 'bar', part: 'bar' }, h('div', { class: 'filled' }))
  #percent = h('span', { class: 'percent', part: 'percent' })
  #progress = h('div', { class: 'progress', part: 'progress', role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': '100' }, this.#bar, this.#percent)
  #title = h('strong')
  #text = h('span')
  #problem = h('p', { class: 'problem', part: 'problem' }, icon('warning'), h('span', {}, this.#title, ' ', this.#text))
  #status = h('div', { class: 'visually-hidden', role: 'status' })
  element = h('div', { class: 'root', part: 'root' })

  constructor(press) {
    this.#button = h('button', { class: 'button', part: 'button', type: 'button' }, this.#icon, this.#label)
    // A double click or a key held down must not cancel what it has started.
    this.#button.addEventListener('click', ({ detail }) => detail <= 1 && press())
    this.#button.addEventListener('keydown', (event) => event.repeat && event.key === 'Enter' && event.preventDefault())
    this.element.append(this.#problem, this.#progress, this.#button, this.#status)
  }

  focus() {
    this.#button.focus()
  }

  /** Shows a state. `language`: the tag of the texts. */
  update(state, previous, { texts, language, text }) {
    const { view, progress, problem } = state
    this.element.dataset.view = view
    this.element.lang = language
    const action = texts.actions[view]
    setText(this.#label, action)
    setIcon(this.#icon, icons[view])
    setAttributes(this.#button, { 'aria-label': text ? texts.named(action, excerpt(text)) : '' })
    setDisabled(this.#button, view === 'checking')
    this.#progress.hidden = view !== 'generating'
    const percent = new Intl.NumberFormat(language, { style: 'percent' }).format(progress / 100)
    setText(this.#percent, percent)
    setAttributes(this.#progress, { 'aria-label': texts.progress, 'aria-valuenow': String(progress), 'aria-valuetext': percent })
    this.#bar.style.setProperty('--done', `${progress}%`)
    this.#problem.hidden = view !== 'failed'
    if (problem) {
      const described = describe(problem, texts)
      setText(this.#title, described.title)
      setText(this.#text, described.text)
    }
    this.#announce(state, previous, texts)
  }

  /** Announces the results of the user's clicks only, so that a list of loading buttons stays silent. */
  #announce({ view, problem }, previous, texts) {
    if (view === previous.view) return
    if (view === 'failed' && previous.view !== 'checking') {
      const { title, text } = describe(problem, texts)
      setText(this.#status, `${title}: ${text}`)
    } else if (view === 'generating' ? previous.view !== 'checking' : previous.view === 'generating') setText(this.#status, texts.announced[view])
  }
}

function excerpt(text) {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length > EXCERPT_MAX ? characters.slice(0, EXCERPT_MAX).join('').trimEnd() + '…' : line
}

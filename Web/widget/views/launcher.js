// What is on the page while nothing is open: the button that starts a conversation, its loading, and an error.

import { h, setAttributes, setText, uniqueId } from '../../shared/elements.js'
import { describeProblem, directionOf, foreignLanguage, nameInSentence, statusText, textsOf } from '../model/texts.js'
import { Logo, icon, setIcon } from './icons.js'
import { ProblemView } from './messages.js'

export class Launcher {
  #session
  #icon = icon('voice')
  #logo = new Logo(this.#icon)
  #label = h('span', { class: 'launcher-label' })
  #hint = h('span', { class: 'launcher-hint', dir: 'ltr' })
  // For those who do not know what the microphone is for; the button has a name.
  #tooltip = h('span', { class: 'launcher-tooltip', 'aria-hidden': 'true', dir: 'ltr' })
  #problem
  #isOpen = false
  #isIconOnly = false

  constructor(session, run) {
    this.#session = session
    this.#problem = new ProblemView(run, 'error')
    this.#problem.element.id = uniqueId('launcher-problem')
    this.#problem.element.addEventListener('keydown', (event) => this.#escape(event))
    this.button = h('button', { type: 'button', class: 'launcher', part: 'launcher', onclick: () => this.#press() },
      h('span', { class: 'launcher-icon' }, h('slot', { name: 'launcher-icon' }, this.#logo.image, this.#icon)),
      h('span', { class: 'launcher-texts' }, h('slot', { name: 'launcher-text' }, this.#label), this.#hint))
    this.element = h('div', { class: 'launcher-area' }, h('div', { class: 'problem-card' }, this.#problem.element), this.#tooltip, this.button)
  }

  /** Where the talk view opens from, in the viewport. */
  get center() {
    const { x, y, width, height } = this.button.getBoundingClientRect()
    return [x + width / 2, y + height / 2]
  }

  update(state, { isDialog }) {
    const { view, definition, problem, isIconOnly, isTalk } = state
    const isError = view === 'error'
    if (isIconOnly !== this.#isIconOnly || problem !== this.shownProblem) {
      this.shownProblem = problem
      // The icon is red, and opens its problem when it is pressed.
      this.#isOpen = !isIconOnly
    }
    this.#isIconOnly = isIconOnly
    const isResting = view === 'loading' || view === 'collapsed'
    this.element.hidden = !(isResting || isError) && !isDialog
    this.button.hidden = isError && !isIconOnly && !isDialog
    // Can always be focused, so that the focus has a place while the assistant is loaded anew.
    this.button.ariaDisabled = view === 'idle' || view === 'loading' ? 'true' : null
    this.button.toggleAttribute('data-icon-only', isIconOnly)
    this.button.toggleAttribute('data-error', isError)
    this.button.toggleAttribute('data-loading', view === 'loading')
    this.button.toggleAttribute('data-talk', isTalk)
    this.#tooltip.hidden = !(isTalk && isIconOnly && view === 'collapsed')
    setIcon(this.#icon, isError ? 'warning' : isTalk ? 'microphone' : 'voice')
    this.#logo.update(isError ? '' : (definition?.logo ?? ''))
    const { launcher, talk } = textsOf(state)
    setText(this.#tooltip, talk.tap)
    const start = definition?.startText || launcher.start(nameInSentence(state))
    const label = view === 'collapsed' || isDialog ? start : launcher.name
    setText(this.#label, label)
    setText(this.#hint, view === 'collapsed' || isDialog ? '' : statusText(state))
    const language = foreignLanguage(state, label)
    setAttributes(this.#label, { lang: language, dir: directionOf(state, label) })
    // The name of the button.
    setAttributes(this.button, { lang: isIconOnly && view === 'collapsed' ? language : '' })
    this.#hint.hidden = this.#hint.textContent === ''
    const { title, text } = isError ? describeProblem(state) : { title: '', text: '' }
    if (isIconOnly) {
      const name = isError ? `${title}. ${text}` : view === 'collapsed' ? start : `${label}: ${this.#hint.textContent}`
      setAttributes(this.button, { 'aria-label': name, title: name })
    } else {
      setAttributes(this.button, { 'aria-label': '', title: '' })
    }
    const opens = isError && isIconOnly
    setAttributes(this.button, { 'aria-expanded': opens ? String(this.#isOpen) : '', 'aria-controls': opens ? this.#problem.element.id : '' })
    this.#problem.update(isError && !isDialog ? state : null)
    if (!this.#isOpen) this.#problem.element.hidden = true
    this.#problem.element.parentElement.hidden = this.#problem.element.hidden
  }

  focus() {
    if (!this.#problem.element.hidden) this.#problem.focus()
    else this.button.focus()
  }

  /** Closes what can be opened again: the problem of the icon, and those of a conversation. */
  #escape(event) {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    if (!this.#isIconOnly) return this.#session.close()
    this.#press()
    this.button.focus()
  }

  #press() {
    if (this.button.ariaDisabled) return
    const { state } = this.#session
    if (state.view !== 'error') return this.#session.start()
    this.#isOpen = !this.#isOpen
    this.#problem.element.hidden = !this.#isOpen
    this.#problem.element.parentElement.hidden = !this.#isOpen
    this.button.setAttribute('aria-expanded', String(this.#isOpen))
    if (this.#isOpen) this.#problem.focus()
  }
}

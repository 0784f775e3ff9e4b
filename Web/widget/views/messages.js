// What the user has to know: problems that fill the view, notices above the controls, and announcements for screen readers.

import { h, setText, uniqueId } from '../../shared/elements.js'
import { LiveRegions } from '../../shared/live-regions.js'
import { hasMicrophoneScreen } from '../model/machine.js'
import { describeMicrophone, describeNotices, describeProblem, foreignLanguage, languageOf, statusText } from '../model/texts.js'
import { icon } from './icons.js'

/** Buttons of a problem or notice; `run(command)` carries one out. The first is the most important. */
function actionButtons(actions, run, primary = 'button primary') {
  return actions.map(({ label, command }, index) =>
    h('button', { type: 'button', class: index === 0 ? primary : 'button', part: 'button', text: label, onclick: () => run(command) }))
}

/** A problem as a screen of its own: of the view `error`, or a microphone that is not yet allowed or blocked. */
export class ProblemView {
  #title = h('h2', { tabindex: -1, dir: 'auto' })
  #text = h('p', { dir: 'auto' })
  #steps = h('ol', { class: 'steps' })
  #actions = h('div', { class: 'actions' })
  #icon = h('span', { class: 'problem-icon' })
  #shown = ''
  #run

  /** `slot`: the name of a slot that replaces the content. */
  constructor(run, slot) {
    this.#run = run
    const id = uniqueId('problem')
    this.#title.id = id
    const content = h('div', { class: 'problem-content' }, this.#icon, this.#title, this.#text, this.#steps, this.#actions)
    // On the page, a dialog that is not modal; in the panel and the talk view, a part of it.
    this.element = h('div', { class: 'problem', role: slot ? 'dialog' : 'group', part: 'error', 'aria-labelledby': id }, slot ? h('slot', { name: slot }, content) : content)
  }

  /** Shows the state's problem; hides if it has none, or if the state is null. */
  update(state) {
    const isBlocked = state !== null && hasMicrophoneScreen(state)
    const described = isBlocked ? describeMicrophone(state) : state?.view === 'error' ? describeProblem(state) : null
    this.element.hidden = !described
    const key = described ? JSON.stringify(described) : ''
    if (key === this.#shown) return
    this.#shown = key
    if (!described) return
    this.element.dataset.kind = isBlocked ? 'microphone' : state.problem.kind
    this.#icon.replaceChildren(icon(isBlocked ? 'microphone-off' : 'warning'))
    setText(this.#title, described.title)
    setText(this.#text, described.text)
    this.#steps.replaceChildren(...(described.steps ?? []).map((text) => h('li', { text })))
    this.#steps.hidden = !described.steps?.length
    this.#actions.replaceChildren(...actionButtons(described.actions, this.#run))
  }

  focus() {
    this.#title.focus()
  }
}

/** Short notices; each with what can be done. */
export class NoticeList {
  element = h('div', { class: 'notices', part: 'notices' })
  #run
  // By key, with what they show.
  #rows = new Map()

  constructor(run) {
    this.#run = run
  }

  update(state) {
    const notices = hasMicrophoneScreen(state) ? [] : describeNotices(state)
    const known = this.#rows
    this.#rows = new Map(notices.map((notice) => {
      const shown = JSON.stringify(notice)
      const row = known.get(notice.key)
      return [notice.key, row?.shown === shown ? row : { shown, element: this.#createRow(notice) }]
    }))
    for (const [key, row] of known) if (this.#rows.get(key) !== row) row.element.remove()
    // Rows that stay are not moved, which would take the focus from their buttons.
    let next = this.element.firstChild
    for (const { element } of this.#rows.values()) {
      if (element === next) next = next.nextSibling
      else this.element.insertBefore(element, next)
    }
  }

  #createRow({ severity, text, actions }) {
    return h('div', { class: 'notice', part: 'notice', 'data-severity': severity },
      icon(severity === 'info' ? 'info' : 'warning'), h('p', { text, dir: 'auto' }),
      actions.length ? h('div', { class: 'actions' }, ...actionButtons(actions, this.#run, 'button')) : null)
  }
}

/** Tells screen readers what changed. Errors interrupt, everything else waits. */
export class Announcer {
  #regions = new LiveRegions()
  element = this.#regions.element

  update(state, earlier) {
    if (!earlier) return
    // Another language is no news.
    const previous = { ...earlier, language: languageOf(state) }
    const status = statusText(state)
    const isNewView = state.view !== previous.view && state.view !== 'idle'
    if (status && state.view !== 'error' && (status !== statusText(previous) || (isNewView && state.view === 'loading'))) this.#regions.say(status, { language: foreignLanguage(state, status) })
    if (state.view === 'error' && state.problem !== previous.problem) {
      const { title, text } = describeProblem(state)
      this.#regions.say(`${title}. ${text}`, { isError: true })
    }
    if (hasMicrophoneScreen(state) && !hasMicrophoneScreen(previous)) {
      const { title, text, steps } = describeMicrophone(state)
      this.#regions.say(`${title}. ${steps.join(' ') || text}`, { isError: steps.length > 0 })
    }
    const known = new Set(describeNotices(previous).map(({ text }) => text))
    for (const { severity, text } of describeNotices(state)) {
      if (!known.has(text) && !hasMicrophoneScreen(state)) this.#regions.say(text, { isError: severity === 'warning' })
    }
    for (const card of state.call.cards) {
      if (!previous.call.cards.some(({ id }) => id === card.id)) this.#regions.say(`${card.title}. ${card.body}`, { isError: card.kind === 'error' })
    }
  }
}

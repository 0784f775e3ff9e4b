// What the user has to know: problems that fill the view, notices above the controls, and announcements for screen readers.

import { h, setText, uniqueId } from '../../shared/elements.js'
import { LiveRegions } from '../../shared/live-regions.js'
import { screenOf } from '../model/machine.js'
import {
  describeConsent, describeMicrophone, describeNotices, describeProblem, foreignLanguage, languageOf, loggedText, statusText,
} from '../model/texts.js'
import { icon } from './icons.js'

/** Buttons of a problem or notice; `run(command)` carries one out. The first is the most important. */
function actionButtons(actions, run, primary = 'button primary') {
  return actions.map(({ label, command }, index) =>
    h('button', { type: 'button', class: index === 0 ? primary : 'button', part: 'button', text: label, onclick: () => run(command) }))
}

/**
 * A full screen: a problem of the view `error`, a microphone that is blocked or not yet allowed, or the consent question.
 */
export class ProblemView {
  #title = h('h2', { tabindex: -1, dir: 'ltr' })
  #text = h('p', { dir: 'ltr' })
  #steps = h('ol', { class: 'steps' })
  #points = h('ul', { class: 'points' })
  #later = h('p', { class: 'later' })
  #actions = h('div', { class: 'actions' })
  #icon = h('span', { class: 'problem-icon' })
  #shown = ''
  #run

  /** `slot`: the name of a slot that replaces the content. */
  constructor(run, slot) {
    this.#run = run
    const id = uniqueId('problem')
    this.#title.id = id
    const content = h('div', { class: 'problem-content' }, this.#icon, this.#title, this.#text, this.#steps, this.#points, this.#later, this.#actions)
    // On the page, a dialog that is not modal; in the panel and the talk view, a part of it.
    this.element = h('div', { class: 'problem', role: slot ? 'dialog' : 'group', part: 'error', 'aria-labelledby': id }, slot ? h('slot', { name: slot }, content) : content)
  }

  /** Shows the state's problem; hides if it has none, or if the state is null. */
  update(state) {
    const screen = state === null ? '' : screenOf(state)
    const described = screen ? screens[screen].describe(state) : state?.view === 'error' ? describeProblem(state) : null
    this.element.hidden = !described
    const key = described ? JSON.stringify(described) : ''
    if (key === this.#shown) return
    this.#shown = key
    if (!described) return
    this.element.dataset.kind = screen || state.problem.kind
    this.#icon.replaceChildren(icon(screen ? screens[screen].icon : 'warning'))
    setText(this.#title, described.title)
    setText(this.#text, described.text)
    for (const [list, texts = []] of [[this.#steps, described.steps], [this.#points, described.points]]) {
      list.replaceChildren(...texts.map((text) => h('li', { text })))
      list.hidden = texts.length === 0
    }
    setText(this.#later, described.later ?? '')
    this.#later.hidden = !described.later
    this.#actions.replaceChildren(...actionButtons(described.actions, this.#run))
  }

  focus() {
    this.#title.focus()
  }
}

const screens = {
  consent: { describe: describeConsent, icon: 'info' },
  microphone: { describe: (state) => describeMicrophone(state), icon: 'microphone-off' },
}

/** The notice that the conversation may be recorded, while it is logged. */
export class LoggedNote {
  element = h('p', { class: 'logged', part: 'logged', dir: 'ltr', hidden: true })

  update(state) {
    setText(this.element, loggedText(state))
    this.element.hidden = this.element.textContent === ''
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
    const notices = screenOf(state) ? [] : describeNotices(state)
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
      icon(severity === 'info' ? 'info' : 'warning'), h('p', { text, dir: 'ltr' }),
      actions.length ? h('div', { class: 'actions' }, ...actionButtons(actions, this.#run, 'button')) : null)
  }
}

/** Tells screen readers what changed. Errors interrupt, everything else waits. */
export class Announcer {
  #regions = new LiveRegions()
  element = this.#regions.element

  /** `dialogRegions`: of the open dialog, outside of which nothing is read; null without one. */
  update(state, earlier, dialogRegions = null) {
    if (!earlier) return
    const regions = dialogRegions ?? this.#regions
    // Another language is no news.
    const previous = { ...earlier, language: languageOf(state) }
    const status = statusText(state)
    const isNewView = state.view !== previous.view && state.view !== 'idle'
    if (status && state.view !== 'error' && (status !== statusText(previous) || (isNewView && state.view === 'loading'))) regions.say(status, { language: foreignLanguage(state, status) })
    if (state.view === 'error' && state.problem !== previous.problem) {
      const { title, text } = describeProblem(state)
      regions.say(`${title}. ${text}`, { isError: true })
    }
    const screen = screenOf(state)
    if (screen === 'microphone' && screenOf(previous) !== screen) {
      const { title, text, steps } = describeMicrophone(state)
      regions.say(`${title}. ${steps.join(' ') || text}`, { isError: steps.length > 0 })
    }
    if (screen === 'consent' && screenOf(previous) !== screen) {
      const { title, text } = describeConsent(state)
      regions.say(`${title} ${text}`)
    }
    if (loggedText(state) && !loggedText(previous)) regions.say(loggedText(state))
    const known = new Set(describeNotices(previous).map(({ text }) => text))
    for (const { severity, text } of describeNotices(state)) {
      if (!known.has(text) && !screen) regions.say(text, { isError: severity === 'warning' })
    }
    for (const card of state.call.cards) {
      if (!previous.call.cards.some(({ id }) => id === card.id)) regions.say(`${card.title}. ${card.body}`, { isError: card.kind === 'error' })
    }
  }
}

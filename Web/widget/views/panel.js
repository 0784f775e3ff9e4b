// The presentation as a panel in a corner of the page: connecting, conversation and transcript.

import { h, setAttributes, setText, uniqueId } from '../../shared/elements.js'
import { hasVoiceView, isInCall, screenOf } from '../model/machine.js'
import { foreignLanguage, nameOf, textsOf } from '../model/texts.js'
import { CardList } from './cards.js'
import { Composer, Controls, QuickCommands, StatusLine } from './controls.js'
import { Logo, icon } from './icons.js'
import { Caption, TranscriptList } from './lines.js'
import { LoggedNote, NoticeList, ProblemView } from './messages.js'
import { Visualizer } from './visualizer.js'

/** The logo or the first letter, the name, and what else is in the first line. */
export class Header {
  #letter = h('span', { class: 'logo-letter', 'aria-hidden': 'true' })
  #logo = new Logo(this.#letter)
  #name

  constructor(...others) {
    // Isolated, so that a name in another direction stays beside the logo.
    this.#name = h('bdi')
    this.title = h('h2', { part: 'title', tabindex: -1, id: uniqueId('title') }, this.#name)
    this.element = h('header', { class: 'header', part: 'header' },
      h('span', { class: 'logo', part: 'logo' }, h('slot', { name: 'logo' }, this.#logo.image, this.#letter)), this.title, ...others)
  }

  update(state) {
    const name = nameOf(state)
    setText(this.#name, name)
    setText(this.#letter, [...name.trim()][0]?.toLocaleUpperCase() ?? '')
    this.#logo.update(state.definition?.logo ?? '')
  }
}

/** Links to earlier conversations and to feedback, if the assistant has them. */
export class Links {
  #history = link('history')
  #feedback = link('feedback')
  element = h('nav', { class: 'links', part: 'links' }, this.#history, this.#feedback)

  update(state) {
    const { definition } = state
    const { controls } = textsOf(state)
    setAttributes(this.element, { 'aria-label': controls.more })
    for (const [element, name] of [[this.#history, 'history'], [this.#feedback, 'feedback']]) {
      const address = definition?.[name]
      setAttributes(element, { 'aria-label': controls[name], title: controls[name] })
      element.hidden = !address
      if (address && element.getAttribute('href') !== address) element.href = address
    }
    this.element.hidden = this.#history.hidden && this.#feedback.hidden
  }
}

const link = (name) => h('a', { class: 'button icon-button', target: '_blank', rel: 'noopener noreferrer' }, icon(name))

export class Panel {
  #parts
  #visualizer
  #controls
  #problem
  #composer
  #transcript = new TranscriptList()
  #caption = new Caption()
  #header
  #start
  #close
  #stage
  #isShown = false

  constructor(session, level, run) {
    const links = new Links()
    this.#close = h('button', { type: 'button', class: 'button icon-button', onclick: () => session.close() }, icon('down'))
    this.#header = new Header(links.element, this.#close)
    this.#visualizer = new Visualizer(level, session.state.definition?.preset)
    this.#controls = new Controls(session, level)
    this.#problem = new ProblemView(run)
    this.#composer = new Composer(session)
    this.#start = h('button', { type: 'button', class: 'button primary start', part: 'button', dir: 'auto', onclick: () => session.start() })
    const [status, notices, cards, quick] = [new StatusLine(session), new NoticeList(run), new CardList(session), new QuickCommands(session)]
    const logged = new LoggedNote()
    this.#stage = h('div', { class: 'stage' }, this.#visualizer.element, status.element, this.#caption.element)
    this.element = h('section', { class: 'panel', part: 'panel', 'aria-labelledby': this.#header.title.id },
      this.#header.element,
      h('div', { class: 'panel-body' }, this.#problem.element, this.#stage, this.#transcript.element, cards.element, notices.element, quick.element),
      this.#composer.element, this.#start, this.#controls.element, logged.element, h('slot', { name: 'footer' }))
    this.element.addEventListener('keydown', (event) => this.#press(event, session))
    this.#parts = [links, this.#header, logged, status, notices, cards, quick, this.#controls, this.#composer, this.#transcript, this.#problem]
  }

  update(state) {
    const { view } = state
    const isShown = view === 'connecting' || view === 'expanded' || view === 'transcript'
    this.element.hidden = !isShown
    this.#isShown = isShown
    if (!isShown) return
    const isBlocked = screenOf(state) !== ''
    for (const part of this.#parts) part.update(state)
    this.#caption.update(state)
    this.#stage.hidden = isBlocked
    // The transcript has the text, and cards need the space.
    this.#stage.toggleAttribute('data-small', view === 'transcript' || state.call.cards.length > 0)
    if (view !== 'expanded') this.#caption.element.hidden = true
    this.#transcript.element.hidden = this.#composer.element.hidden = view !== 'transcript' || isBlocked
    this.#start.hidden = isInCall(state)
    this.#close.hidden = isInCall(state)
    const { controls } = textsOf(state)
    const start = state.definition?.startText || controls.start
    setText(this.#start, start)
    setAttributes(this.#start, { lang: foreignLanguage(state, start) })
    setAttributes(this.#close, { 'aria-label': controls.close, title: controls.close })
    this.#visualizer.update()
  }

  /** Focuses what a view begins with. */
  focus(state) {
    if (screenOf(state)) this.#problem.focus()
    else if (state.view === 'transcript') this.#composer.focus()
    else if (state.view === 'connecting' || isInCall(state)) this.#controls.stopButton.focus()
    else this.#header.title.focus()
  }

  close() {
    this.#visualizer.close()
    this.#controls.close()
  }

  /** Escape goes back one step; it never ends a conversation. */
  #press(event, session) {
    if (event.key !== 'Escape' || !this.#isShown) return
    if (session.state.view === 'transcript' && hasVoiceView(session.state)) session.showVoice()
    else if (!isInCall(session.state)) session.close()
    else return
    event.stopPropagation()
  }
}

// The presentation as a talk over the whole screen: a modal dialog that opens as a circle from the button.

import { h, prefersReducedMotion, setAttributes, setText } from '../../shared/elements.js'
import { LiveRegions } from '../../shared/live-regions.js'
import { currentLine } from '../model/conversation.js'
import { agentStatus, isInCall, screenOf } from '../model/machine.js'
import { textsOf } from '../model/texts.js'
import { CardList } from './cards.js'
import { Composer, Controls, QuickCommands, StatusLine, VoiceMenu } from './controls.js'
import { icon } from './icons.js'
import { Caption, TranscriptList } from './lines.js'
import { LoggedNote, NoticeList, ProblemView } from './messages.js'
import { Header, Links } from './panel.js'
import { createAmbience } from './visualizer.js'

const OPENING = { duration: 550, easing: 'cubic-bezier(0, 0, 0.2, 1)' }
const CLOSING = { duration: 400, easing: 'cubic-bezier(0.4, 0, 1, 1)', fill: /** @type {const} */ ('forwards') }

export class Talk {
  #session
  #origin
  #parts
  #ambience
  #controls
  #problem
  #composer
  #transcript = new TranscriptList()
  #caption = new Caption()
  #hint = h('p', { class: 'talk-hint', dir: 'ltr' })
  #dots = h('div', { class: 'typing-dots', 'aria-hidden': 'true' }, h('span'), h('span'), h('span'))
  #header
  #end
  #stage
  #closing = null
  #isDiscarded = false
  #regions = new LiveRegions()

  /** `origin()` returns the point of the viewport from which the dialog opens. */
  constructor(session, level, run, origin) {
    this.#session = session
    this.#origin = origin
    const links = new Links()
    const voice = new VoiceMenu(session)
    this.#end = h('button', { type: 'button', class: 'button icon-button', onclick: () => this.#leave() }, icon('close'))
    this.#header = new Header(voice.element, links.element, this.#end)
    this.#ambience = createAmbience(level)
    this.#controls = new Controls(session, level)
    this.#problem = new ProblemView(run)
    this.#composer = new Composer(session)
    const [status, notices, cards, quick] = [new StatusLine(session), new NoticeList(run), new CardList(session), new QuickCommands(session)]
    const logged = new LoggedNote()
    this.#stage = h('div', { class: 'stage' }, this.#caption.element, this.#hint, this.#dots)
    this.element = h('dialog', { class: 'talk', part: 'talk', 'aria-labelledby': this.#header.title.id },
      this.#ambience.element, this.#header.element,
      h('div', { class: 'talk-body' }, this.#problem.element, this.#stage, this.#transcript.element, cards.element),
      h('div', { class: 'talk-foot' }, notices.element, status.element, quick.element, this.#composer.element, this.#controls.element, logged.element, h('slot', { name: 'footer' })),
      this.#regions.element)
    // Escape closes, as in every dialog.
    this.element.addEventListener('cancel', (event) => {
      event.preventDefault()
      if (session.state.view === 'transcript') session.showVoice()
      else this.#leave()
    })
    // Browsers may close a dialog on Escape whatever `cancel` says. The event comes later, when a new conversation may have opened it again.
    this.element.addEventListener('close', () => {
      if (!this.#isDiscarded && !this.element.open && Talk.isOpenWith(session.state)) this.#leave()
    })
    this.#parts = [links, this.#header, voice, logged, status, notices, cards, quick, this.#controls, this.#composer, this.#transcript, this.#problem]
    this.statusElement = status.element
  }

  /** Whether it is open with this state: also with errors of a call, which are shown where the call was. */
  static isOpenWith({ view, problem }) {
    return ['connecting', 'expanded', 'transcript'].includes(view) || (view === 'error' && problem.kind !== 'initialization')
  }

  /** Where to announce changes, or null while it is not a dialog. */
  get regions() {
    return this.element.open ? this.#regions : null
  }

  update(state) {
    const isOpen = Talk.isOpenWith(state)
    if (isOpen) this.#open()
    else this.#close()
    // What was shown stays until it is closed.
    if (!isOpen) return
    const { view, call } = state
    const isProblem = screenOf(state) !== '' || view === 'error'
    for (const part of this.#parts) part.update(state)
    this.#caption.update(state)
    this.#stage.hidden = isProblem || view === 'transcript'
    this.#transcript.element.hidden = this.#composer.element.hidden = view !== 'transcript' || isProblem
    this.statusElement.hidden = isProblem
    this.element.dataset.status = agentStatus(state)
    this.element.toggleAttribute('data-connecting', call.phase === 'connecting' || call.phase === 'reconnecting')
    this.element.toggleAttribute('data-has-cards', call.cards.length > 0)
    this.#dots.hidden = agentStatus(state) !== 'thinking'
    this.#hint.hidden = currentLine(call) !== null
    const { controls, talk } = textsOf(state)
    setText(this.#hint, call.agent && !call.agent.isAway ? talk.ready : talk.moment)
    setAttributes(this.#end, { 'aria-label': controls.endAndClose, title: controls.endAndClose })
  }

  focus(state) {
    if (screenOf(state) || state.view === 'error') this.#problem.focus()
    else if (state.view === 'transcript') this.#composer.focus()
    else this.#controls.stopButton.focus()
  }

  /** A move in the document takes an open dialog out of the top layer. `place()` gets the focus once it is closed. */
  reopen(state, place) {
    if (!this.element.open || this.#closing || this.element.matches(':modal')) return
    this.element.close()
    place().focus()
    this.element.showModal()
    this.focus(state)
  }

  /** Discards the view; a call goes on. */
  close() {
    this.#isDiscarded = true
    this.#ambience.stop()
    this.#controls.close()
    this.#shut()
  }

  #leave() {
    if (isInCall(this.#session.state)) this.#session.stop()
    else this.#session.close()
  }

  #open() {
    this.#closing?.cancel()
    this.#closing = null
    if (this.element.open) return
    this.element.showModal()
    this.#animate(false)
  }

  #close() {
    if (!this.element.open || this.#closing) return
    const animation = this.#animate(true)
    this.#closing = animation
    animation.onfinish = () => {
      // The event may come after the dialog was opened again.
      if (this.#closing !== animation) return
      this.#closing = null
      this.#shut()
      // Its last frame would clip the dialog when it is open again.
      animation.cancel()
    }
  }

  #shut() {
    if (this.element.open) this.element.close()
  }

  /** The circle, from or to the button; with reduced motion, the view fades. */
  #animate(isClosing) {
    const options = isClosing ? CLOSING : OPENING
    if (prefersReducedMotion.matches) return this.element.animate([{ opacity: isClosing ? 1 : 0 }, { opacity: isClosing ? 0 : 1 }], { ...options, easing: 'linear' })
    const [x, y] = this.#origin()
    const radius = Math.hypot(Math.max(x, innerWidth - x), Math.max(y, innerHeight - y))
    const circle = (size) => ({ clipPath: `circle(${size}px at ${x}px ${y}px)` })
    const frames = [circle(28), circle(radius)]
    return this.element.animate(isClosing ? frames.reverse() : frames, options)
  }
}

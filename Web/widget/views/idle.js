// The idle screen of the talk view, in the page's flow: suggestions, a text input, and the microphone from which the talk view opens.

import { h, setAttributes, setText, uniqueId } from '../../shared/elements.js'
import { nameInSentence, textsOf } from '../model/texts.js'
import { QuickCommands, VoiceMenu } from './controls.js'
import { icon } from './icons.js'
import { Header, Links } from './panel.js'
import { createShapes } from './visualizer.js'

export class Idle {
  #session
  #links = new Links()
  #header
  #voice
  #quick
  #input = h('input', { type: 'text', dir: 'auto', maxlength: 2000, autocomplete: 'off', enterkeyhint: 'send' })
  #microphone = h('button', { type: 'button', class: 'idle-microphone', part: 'launcher', onclick: () => this.#session.start() }, icon('microphone'))
  #tooltip = h('span', { class: 'launcher-tooltip idle-tooltip', 'aria-hidden': 'true', dir: 'ltr' })

  constructor(session) {
    this.#session = session
    this.#voice = new VoiceMenu(session)
    this.#header = new Header(this.#voice.element, this.#links.element)
    this.#quick = new QuickCommands(session)
    this.#input.id = uniqueId('ask')
    const form = h('form', { class: 'idle-input', part: 'message-form', onsubmit: (event) => this.#send(event) },
      h('span', { class: 'idle-sparkle', 'aria-hidden': 'true' }, icon('sparkle')), this.#input,
      h('span', { class: 'idle-talk' }, this.#tooltip, this.#microphone))
    this.element = h('section', { class: 'idle', part: 'idle', hidden: true, 'aria-labelledby': this.#header.title.id },
      createShapes(), this.#header.element, h('div', { class: 'idle-body' }, this.#quick.element), form)
  }

  /** The point from which the talk view opens, in the viewport. */
  get center() {
    const { x, y, width, height } = this.#microphone.getBoundingClientRect()
    return [x + width / 2, y + height / 2]
  }

  /** `isShown`: true also behind the open talk view, which closes towards it. */
  update(state, isShown) {
    // The tooltip fades again whenever the screen is shown.
    this.element.hidden = !isShown
    if (!isShown) return
    for (const part of [this.#links, this.#header, this.#voice, this.#quick]) part.update(state)
    const { launcher, talk } = textsOf(state)
    setAttributes(this.#input, { placeholder: talk.ask, 'aria-label': talk.ask })
    const start = launcher.start(nameInSentence(state))
    setAttributes(this.#microphone, { 'aria-label': start, title: start })
    setText(this.#tooltip, talk.tap)
  }

  focus() {
    this.#microphone.focus()
  }

  #send(event) {
    event.preventDefault()
    const text = this.#input.value.trim()
    if (!text) return this.#input.focus()
    this.#input.value = ''
    this.#session.sendText(text)
  }
}

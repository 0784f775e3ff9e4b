// What users operate during a conversation: stop, mute, text, quick commands and the voice.

import { h, setAttributes, setDisabled, setText, uniqueId } from '../../shared/elements.js'
import { agentStatus, hasVoiceView, screenOf, isInCall } from '../model/machine.js'
import { directionOf, foreignLanguage, statusText, textsOf } from '../model/texts.js'
import { icon, setIcon } from './icons.js'
import { createWaveform } from './visualizer.js'

/** Mute, stop and text, in this order. The stop button contains a waveform. */
export class Controls {
  #session
  #waveform
  #mute = new ToggleButton('microphone', () => this.#session.setMuted(!this.#session.state.call.microphone.isMuted))
  #text = new ToggleButton('text', () => (this.#session.state.view === 'transcript' ? this.#session.showVoice() : this.#session.showTranscript()))
  #stopLabel = h('span')

  constructor(session, level) {
    this.#session = session
    this.#waveform = createWaveform(level)
    this.stopButton = h('button', { type: 'button', class: 'button stop', part: 'stop-button', onclick: () => session.stop() }, this.#waveform.element, this.#stopLabel)
    this.#mute.element.classList.add('mute')
    this.element = h('div', { class: 'controls', part: 'controls' }, this.#mute.element, this.stopButton, this.#text.element)
  }

  update(state) {
    const { call, view } = state
    const { controls, talk } = textsOf(state)
    const { microphone } = call
    const isConnecting = call.phase === 'connecting'
    this.element.hidden = !isInCall(state)
    const [end, endLong] = state.isTalk ? [talk.stop, talk.stopLong] : [controls.end, controls.endLong]
    setText(this.#stopLabel, isConnecting ? controls.cancel : end)
    setAttributes(this.stopButton, { 'aria-label': isConnecting ? controls.cancelLong : endLong })
    const canMute = microphone.state === 'on'
    this.#mute.show(microphone.isMuted || !canMute ? 'microphone-off' : 'microphone', !canMute ? controls.noMicrophone : microphone.isMuted ? controls.unmute : controls.mute, {
      isPressed: canMute && microphone.isMuted, isDisabled: !canMute,
    })
    const isText = view === 'transcript'
    this.#text.element.hidden = !hasVoiceView(state)
    this.#text.show(isText ? 'voice' : 'text', isText ? controls.showVoice : controls.showTranscript, { isPressed: isText, isDisabled: isConnecting })
  }

  close() {
    this.#waveform.stop()
  }
}

class ToggleButton {
  #icon

  constructor(name, onclick) {
    this.#icon = icon(name)
    this.element = h('button', { type: 'button', class: 'button round', part: 'button', onclick }, this.#icon)
  }

  show(name, label, { isPressed, isDisabled }) {
    setIcon(this.#icon, name)
    setAttributes(this.element, { 'aria-label': label, title: label })
    this.element.toggleAttribute('data-pressed', isPressed)
    setDisabled(this.element, isDisabled)
  }
}

/** The text input. What could not be sent stays in it. */
export class Composer {
  #input = h('input', { type: 'text', dir: 'auto', maxlength: 2000, autocomplete: 'off', enterkeyhint: 'send' })
  #send = h('button', { type: 'submit', class: 'button primary round', part: 'button' }, icon('send'))

  constructor(session) {
    const onsubmit = async (event) => {
      event.preventDefault()
      const text = this.#input.value.trim()
      this.#input.focus()
      if (!text) return
      // Cleared at once: what is typed meanwhile is the next message.
      this.#input.value = ''
      if (!(await session.sendText(text)) && !this.#input.value) this.#input.value = text
    }
    this.element = h('form', { class: 'composer', part: 'message-form', onsubmit }, this.#input, this.#send)
  }

  update(state) {
    const { controls } = textsOf(state)
    setAttributes(this.#input, { placeholder: controls.messageHint, 'aria-label': controls.message })
    setAttributes(this.#send, { title: controls.send, 'aria-label': controls.send })
    setDisabled(this.#send, state.call.phase !== 'connected')
  }

  focus() {
    this.#input.focus()
  }
}

/** What people often say, as buttons. They begin a conversation if there is none, and disappear once it goes on. */
export class QuickCommands {
  element = h('div', { class: 'quick', part: 'quick-commands', role: 'group' })
  #session
  #shown = null

  constructor(session) {
    this.#session = session
  }

  update(state) {
    const { definition, call, view } = state
    const commands = definition?.quickCommands ?? []
    if (commands !== this.#shown) {
      this.#shown = commands
      this.element.replaceChildren(...commands.map((text, index) => {
        const button = h('button', { type: 'button', class: 'button chip', part: 'quick-command', dir: 'auto', onclick: () => this.#session.sendText(text) }, icon('sparkle'), text)
        button.style.setProperty('--index', String(index))
        return button
      }))
    }
    setAttributes(this.element, { 'aria-label': textsOf(state).controls.suggestions })
    for (const button of this.element.children) setAttributes(button, { lang: foreignLanguage(state, button.textContent) })
    const hasBegun = call.transcript.lines.some(({ kind }) => kind === 'user' || kind === 'typed')
    // In the talk view they belong to the introduction.
    const isIntroduced = call.onboarding !== 'asked' || state.isTalk
    const isQuiet = call.agent !== null && !call.agent.isAway && isIntroduced && call.cards.length === 0 && !hasBegun
    const isReady = call.phase === 'none' || (call.phase === 'connected' && isQuiet)
    this.element.hidden = !isReady || commands.length === 0 || view === 'error' || screenOf(state) !== ''
  }
}

/** What happens now, and a way to stop what the assistant says. */
export class StatusLine {
  #text = h('span', { class: 'status-text' })
  #dot = h('span', { class: 'status-dot', 'aria-hidden': 'true' })
  #interrupt
  #skip

  constructor(session) {
    this.#interrupt = h('button', { type: 'button', class: 'button small', part: 'button', onclick: () => session.interrupt() })
    this.#skip = h('button', { type: 'button', class: 'button small', part: 'button', onclick: () => session.skipOnboarding() })
    this.element = h('div', { class: 'status', part: 'status' }, this.#dot, this.#text, this.#interrupt, this.#skip)
  }

  update(state) {
    const status = agentStatus(state)
    const { call } = state
    this.element.dataset.status = isInCall(state) && call.phase !== 'connected' ? 'busy' : status
    const { controls } = textsOf(state)
    const text = statusText(state)
    setText(this.#text, text)
    setAttributes(this.#text, { lang: foreignLanguage(state, text), dir: directionOf(state, text) })
    setText(this.#skip, controls.skip)
    setText(this.#interrupt, controls.interrupt)
    const isOnboarding = call.onboarding === 'asked' && status === 'waiting'
    this.#skip.hidden = !isOnboarding
    // For those who cannot speak now.
    this.#interrupt.hidden = isOnboarding || status !== 'waiting' || (call.microphone.state === 'on' && !call.microphone.isMuted)
  }
}

/** The voice, for conversations that begin from now on. */
export class VoiceMenu {
  #select = h('select')
  #label = h('label')
  #hint = h('span', { class: 'hint' })
  #own = h('option', { value: '' })
  // Chosen during a call, to which it does not apply.
  #isForLater = false
  #session
  #shown = null

  constructor(session) {
    this.#session = session
    this.#select.id = uniqueId('voice')
    this.#hint.id = uniqueId('hint')
    this.#label.htmlFor = this.#select.id
    this.#select.setAttribute('aria-describedby', this.#hint.id)
    this.#select.addEventListener('change', () => {
      session.chosenVoice = this.#select.value
      this.#isForLater = isInCall(session.state)
      this.update(session.state)
    })
    this.element = h('div', { class: 'voice-menu', part: 'voice-menu' }, this.#label, this.#select, this.#hint)
  }

  update(state) {
    const { voices, chosenVoice } = this.#session
    const { controls } = textsOf(state)
    if (voices !== this.#shown) {
      this.#shown = voices
      this.#select.replaceChildren(this.#own, ...voices.map(({ id, name }) => h('option', { value: id, text: name })))
    }
    setText(this.#own, controls.voiceOwn)
    if (this.#select.value !== chosenVoice) this.#select.value = chosenVoice
    if (state.call.phase === 'none' || state.call.phase === 'connecting') this.#isForLater = false
    setText(this.#label, controls.voice)
    setText(this.#hint, this.#isForLater ? controls.voiceLater : '')
  }
}

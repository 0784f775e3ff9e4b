// What users operate during a conversation: stop, mute, text, quick commands and the voice.

import { h, setText, uniqueId } from '../../shared/elements.js'
import { agentStatus, isDenied, isInCall } from '../model/machine.js'
import { statusText } from '../model/texts.js'
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
    this.element = h('div', { class: 'controls', part: 'controls' }, this.#mute.element, this.stopButton, this.#text.element)
  }

  update(state) {
    const { call, view } = state
    const { microphone } = call
    this.element.hidden = !isInCall(state)
    setText(this.#stopLabel, call.phase === 'connecting' ? 'Cancel' : 'End')
    this.stopButton.setAttribute('aria-label', call.phase === 'connecting' ? 'Cancel the connection' : 'End the conversation')
    const canMute = microphone.state === 'on'
    this.#mute.show(microphone.isMuted || !canMute ? 'microphone-off' : 'microphone', !canMute ? 'The microphone is off' : microphone.isMuted ? 'Unmute' : 'Mute', {
      isPressed: canMute && microphone.isMuted, isDisabled: !canMute,
    })
    const isText = view === 'transcript'
    this.#text.show(isText ? 'voice' : 'text', isText ? 'Back to the voice' : 'Transcript and text', { isPressed: isText, isDisabled: call.phase === 'connecting' })
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
    this.element.setAttribute('aria-label', label)
    this.element.title = label
    this.element.toggleAttribute('data-pressed', isPressed)
    this.element.disabled = isDisabled
  }
}

/** The text input. What could not be sent stays in it. */
export class Composer {
  #input = h('input', { type: 'text', dir: 'auto', maxlength: 2000, autocomplete: 'off', enterkeyhint: 'send', placeholder: 'Type a message', 'aria-label': 'Message' })
  #send = h('button', { type: 'submit', class: 'button primary round', part: 'button', 'aria-label': 'Send', title: 'Send' }, icon('send'))

  constructor(session) {
    const onsubmit = async (event) => {
      event.preventDefault()
      const text = this.#input.value.trim()
      if (!text) return this.#input.focus()
      if (await session.sendText(text)) this.#input.value = ''
      this.#input.focus()
    }
    this.element = h('form', { class: 'composer', part: 'message-form', onsubmit }, this.#input, this.#send)
  }

  update({ call }) {
    this.#send.disabled = call.phase !== 'connected'
  }

  focus() {
    this.#input.focus()
  }
}

/** What people often say, as buttons. They begin a conversation if there is none, and disappear once it goes on. */
export class QuickCommands {
  element = h('div', { class: 'quick', part: 'quick-commands', role: 'group', 'aria-label': 'Suggestions' })
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
      this.element.replaceChildren(...commands.map((text) =>
        h('button', { type: 'button', class: 'button chip', part: 'quick-command', dir: 'auto', text, onclick: () => this.#session.sendText(text) })))
    }
    const hasBegun = call.transcript.lines.some(({ kind }) => kind === 'user' || kind === 'typed')
    const isQuiet = call.agent !== null && call.onboarding !== 'asked' && call.cards.length === 0 && !hasBegun
    const isReady = call.phase === 'none' || (call.phase === 'connected' && isQuiet)
    this.element.hidden = !isReady || commands.length === 0 || view === 'error' || isDenied(state)
  }
}

/** What happens now, and a way to stop what the assistant says. */
export class StatusLine {
  #text = h('span', { class: 'status-text', dir: 'auto' })
  #dot = h('span', { class: 'status-dot', 'aria-hidden': 'true' })
  #interrupt
  #skip

  constructor(session) {
    this.#interrupt = h('button', { type: 'button', class: 'button small', part: 'button', text: 'Interrupt', onclick: () => session.interrupt() })
    this.#skip = h('button', { type: 'button', class: 'button small', part: 'button', text: 'Skip introduction', onclick: () => session.skipOnboarding() })
    this.element = h('div', { class: 'status', part: 'status' }, this.#dot, this.#text, this.#interrupt, this.#skip)
  }

  update(state) {
    const status = agentStatus(state)
    const { call } = state
    this.element.dataset.status = isInCall(state) && call.phase !== 'connected' ? 'busy' : status
    setText(this.#text, statusText(state))
    const isOnboarding = call.onboarding === 'asked' && status === 'waiting'
    this.#skip.hidden = !isOnboarding
    // For those who cannot speak now.
    this.#interrupt.hidden = isOnboarding || status !== 'waiting' || (call.microphone.state === 'on' && !call.microphone.isMuted)
  }
}

/** The voice, for conversations that begin from now on. */
export class VoiceMenu {
  #select = h('select', {})
  #hint = h('span', { class: 'hint' })
  #session
  #shown = null

  constructor(session) {
    this.#session = session
    this.#select.id = uniqueId('voice')
    this.#hint.id = uniqueId('hint')
    this.#select.setAttribute('aria-describedby', this.#hint.id)
    this.#select.addEventListener('change', () => {
      session.voice = this.#select.value
      if (isInCall(session.state)) setText(this.#hint, 'From the next conversation on')
    })
    this.element = h('div', { class: 'voice-menu', part: 'voice-menu' }, h('label', { for: this.#select.id, text: 'Voice' }), this.#select, this.#hint)
  }

  update(state) {
    const { voices, voice } = this.#session
    if (voices !== this.#shown) {
      this.#shown = voices
      this.#select.replaceChildren(...voices.map(({ id, name }) => h('option', { value: id, text: name })))
    }
    if (this.#select.value !== voice) this.#select.value = voice
    if (state.call.phase === 'none' || state.call.phase === 'connecting') setText(this.#hint, '')
  }
}

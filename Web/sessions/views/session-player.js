// Plays the recordings of a session: button, position, speed.

import { saveFile } from '../model/downloads.js'
import { playback } from './playback.js'
import { View, duration, h, setDisabled, setText } from './view.js'

const RATES = [['1', '1×'], ['1.25', '1.25×'], ['1.5', '1.5×'], ['2', '2×']]

class SessionPlayer extends View {
  #button = h('button', { type: 'button', class: 'primary', onclick: () => playback.toggle() })
  #position = h('input', { type: 'range', min: 0, max: 0, step: 0.1, value: 0, 'aria-label': 'Position', oninput: () => playback.seek(Number(this.#position.value)) })
  #time = h('span', { class: 'player-time' })
  #rate = h('select', { 'aria-label': 'Speed', onchange: () => playback.setRate(Number(this.#rate.value)) }, ...RATES.map(([value, text]) => h('option', { value, text })))
  #controls = h('div', { class: 'player-controls' }, this.#button, this.#position, this.#time, this.#rate)
  #problem = h('p', { class: 'hint' })
  #save = h('button', { type: 'button', class: 'small', text: 'Save the recording', onclick: () => playback.files.forEach(({ blob, name }) => saveFile(blob, name)) })

  build() {
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', 'Recording')
    this.append(this.#controls, h('div', { class: 'row' }, this.#problem, this.#save))
    playback.addEventListener('change', () => this.#show())
    playback.addEventListener('time', () => this.#showTime())
    this.#show()
  }


  #show() {
    const { state, isPlaying, files } = playback
    const isReady = state === 'ready'
    setText(this.#button, { idle: 'Play recording', loading: 'Loading…', failed: 'Try again', ready: isPlaying ? 'Pause' : 'Play' }[state])
    setDisabled(this.#button, state === 'loading')
    for (const part of [this.#position, this.#time, this.#rate]) part.hidden = !isReady
    this.#position.max = playback.duration.toFixed(1)
    // What could be fetched but not played can still be saved.
    this.#save.hidden = state !== 'failed' || files.length === 0
    this.#problem.hidden = state !== 'failed'
    setText(this.#problem, files.length
      ? 'This browser cannot play Ogg Opus. Use a current version of Chrome, Edge, Firefox or Safari, or save the recording.'
      : 'The recording could not be loaded. Check the connection, then try again.')
    this.#showTime()
  }

  #showTime() {
    const [time, whole] = [duration(playback.time * 1000), duration(playback.duration * 1000)]
    setText(this.#time, `${time} / ${whole}`)
    // Not while it is dragged.
    if (!this.#position.matches(':active')) this.#position.value = playback.time.toFixed(1)
    this.#position.setAttribute('aria-valuetext', `${time} of ${whole}`)
  }
}

customElements.define('session-player', SessionPlayer)

// Choice of microphone and speaker, and recording on this device.

import { call } from '../model/call.js'
import { texts } from '../model/language.js'
import { recorder } from '../model/recorder.js'
import { isInCall } from '../model/state.js'
import { DeviceSelects } from './device-select.js'
import { View, h, setDisabled, setText } from './view.js'

const t = texts.devices

class DevicePanel extends View {
  #selects = new DeviceSelects()
  #record = h('button', { type: 'button', onclick: () => this.#toggle() })
  #download = h('a', { class: 'button' })
  #hint = h('p', { class: 'hint' })
  #state = null

  build() {
    this.append(this.#selects.microphone, this.#selects.speaker, h('div', { class: 'row' }, this.#record, this.#download), this.#hint)
  }

  update(state) {
    this.#state = state
    const { recording } = state
    this.#selects.update(state)
    const isRunning = recording.state === 'running'
    setText(this.#record, isRunning ? t.stopRecording : t.record)
    setDisabled(this.#record, !isInCall(state) || !call.room || (state.room.state !== 'connected' && !isRunning))
    this.#download.hidden = !recording.url
    if (recording.url) {
      this.#download.href = recording.url
      this.#download.download = `call-${state.room.name.replace(/[^\w-]+/g, '_')}.wav`
      setText(this.#download, t.download((recording.size / 1e6).toFixed(1)))
    }
    setText(this.#hint, hint(recording))
  }

  #toggle() {
    if (this.#state.recording.state === 'running') recorder.stop()
    else recorder.start()
  }
}

function hint({ state, isCut }) {
  if (state === 'running') return t.recording
  if (state === 'done') return `${isCut ? t.cut : ''}${t.recorded}`
  return t.ask
}

customElements.define('device-panel', DevicePanel)

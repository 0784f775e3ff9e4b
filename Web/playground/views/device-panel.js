// Choice of microphone and speaker, and recording on this device.

import { call } from '../model/call.js'
import { chooseDevice } from '../model/commands.js'
import { recorder } from '../model/recorder.js'
import { isInCall } from '../model/state.js'
import { View, field, h, setDisabled, setText } from './view.js'

const canChooseSpeaker = 'setSinkId' in AudioContext.prototype

class DevicePanel extends View {
  #microphone = h('select', { onchange: () => chooseDevice('microphone', this.#microphone.value) })
  #speaker = h('select', { onchange: () => chooseDevice('speaker', this.#speaker.value), disabled: !canChooseSpeaker })
  #record = h('button', { type: 'button', onclick: () => this.#toggle() })
  #download = h('a', { class: 'button' })
  #hint = h('p', { class: 'hint' })
  #devices = null
  #state = null

  build() {
    this.append(
      field('Microphone', this.#microphone),
      field('Speaker', this.#speaker, canChooseSpeaker ? undefined : h('p', { text: 'This browser plays on the system’s output only.' })),
      h('div', { class: 'row' }, this.#record, this.#download), this.#hint)
  }

  update(state) {
    this.#state = state
    const { devices, recording } = state
    if (devices !== this.#devices) {
      fill(this.#microphone, devices.microphones, devices.microphone)
      fill(this.#speaker, devices.speakers, devices.speaker)
      this.#devices = devices
    }
    const isRunning = recording.state === 'running'
    setText(this.#record, isRunning ? 'Stop recording' : 'Record on this device')
    setDisabled(this.#record, !isInCall(state) || !call.room || (state.room.state !== 'connected' && !isRunning))
    this.#download.hidden = !recording.url
    if (recording.url) {
      this.#download.href = recording.url
      this.#download.download = `call-${state.room.name.replace(/[^\w-]+/g, '_')}.wav`
      setText(this.#download, `Download WAV, ${(recording.size / 1e6).toFixed(1)} MB`)
    }
    setText(this.#hint, hint(recording))
  }

  #toggle() {
    if (this.#state.recording.state === 'running') recorder.stop()
    else recorder.start()
  }
}

function hint({ state, isCut }) {
  if (state === 'running') return 'Recording. Left channel: you; right channel: what you hear.'
  if (state === 'done') return `${isCut ? 'Stopped after 30 minutes. ' : ''}The file is only in this page: download it before you close the page or call again.`
  return 'Kept in this page, not sent anywhere. Ask the other side before you record.'
}

function fill(select, devices, chosen) {
  const named = devices.filter(({ deviceId }) => deviceId && deviceId !== 'default')
  select.replaceChildren(h('option', { value: '', text: 'System default' }), ...named.map(({ deviceId, label }, index) =>
    h('option', { value: deviceId, text: label || `Device ${index + 1}` })))
  // A device that was unplugged is no longer in the list.
  select.value = named.some(({ deviceId }) => deviceId === chosen) ? chosen : ''
}

customElements.define('device-panel', DevicePanel)

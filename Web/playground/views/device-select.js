// The selection of microphone and speaker, before and during a call.

import { texts } from '../model/language.js'
import { chooseDevice } from '../model/commands.js'
import { field, h } from './view.js'

const canChooseSpeaker = 'setSinkId' in AudioContext.prototype

export class DeviceSelects {
  #microphone = h('select', { onchange: () => chooseDevice('microphone', this.#microphone.value) })
  #speaker = h('select', { onchange: () => chooseDevice('speaker', this.#speaker.value), disabled: !canChooseSpeaker })
  #shown = null
  microphone = field(texts.devices.microphone, this.#microphone)
  speaker = field(texts.devices.speaker, this.#speaker, canChooseSpeaker ? undefined : h('p', { text: texts.devices.noChoice }))

  update({ devices }) {
    if (devices === this.#shown) return
    this.#shown = devices
    fill(this.#microphone, devices.microphones, devices.microphone)
    fill(this.#speaker, devices.speakers, devices.speaker)
  }
}

function fill(select, devices, chosen) {
  const { systemDefault, numbered } = texts.devices
  const named = devices.filter(({ deviceId }) => deviceId && deviceId !== 'default')
  select.replaceChildren(h('option', { value: '', text: systemDefault }), ...named.map(({ deviceId, label }, index) =>
    h('option', { value: deviceId, text: label || numbered(index + 1) })))
  // An unplugged device is no longer in the list.
  select.value = named.some(({ deviceId }) => deviceId === chosen) ? chosen : ''
}

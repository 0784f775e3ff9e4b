// The selection and test of the devices before a call.

import { testMicrophone } from '../model/commands.js'
import { microphoneCheck, playTestSound } from '../model/device-check.js'
import { texts } from '../model/language.js'
import { describe } from '../model/problems.js'
import { DeviceSelects } from './device-select.js'
import { LevelMeter } from './level-meter.js'
import { store } from '../model/store.js'
import { View, h, setText } from './view.js'

const INTERVAL_MS = 100

class DeviceCheck extends View {
  #selects = new DeviceSelects()
  #meter = new LevelMeter()
  #test = h('button', { type: 'button', class: 'small', onclick: testMicrophone })
  #sound = h('button', { type: 'button', class: 'small', text: texts.devices.testSound, onclick: () => this.#play() })
  #meterRow = h('div', { class: 'check-level' }, this.#meter.element, this.#meter.word)
  #hint = h('p', { class: 'hint', role: 'status' })
  #heard = h('p', { class: 'hint', role: 'status' })
  #timer = 0

  build() {
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', texts.devices.title)
    this.#meter.element.setAttribute('aria-label', texts.devices.level)
    this.append(
      h('div', { class: 'check-device' }, this.#selects.microphone, h('div', { class: 'row' }, this.#test, this.#meterRow), this.#hint),
      h('div', { class: 'check-device' }, this.#selects.speaker, h('div', { class: 'row' }, this.#sound), this.#heard))
  }

  update(state) {
    this.#selects.update(state)
    const { check } = state
    setText(this.#test, check.state === 'on' ? texts.devices.stopTest : texts.devices.testMicrophone)
    this.#meterRow.hidden = check.state !== 'on'
    setText(this.#hint, check.state === 'waiting' ? texts.devices.waiting : check.state === 'on' ? texts.devices.speak : check.state === 'failed' ? fault(check) : '')
    const isOn = check.state === 'on' && state.stage === 'start'
    if (isOn) this.#timer ||= setInterval(() => this.#meter.show(microphoneCheck.level), INTERVAL_MS)
    else {
      clearInterval(this.#timer)
      this.#timer = 0
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
    this.#timer = 0
  }

  async #play() {
    setText(this.#heard, texts.devices.playing)
    const isDone = await playTestSound(store.state.devices.speaker)
    setText(this.#heard, isDone ? '' : texts.devices.soundFailed)
  }
}

function fault({ code, message }) {
  const { title, text } = describe({ key: 'microphone', code, message })
  return `${title}. ${text}`
}

customElements.define('device-check', DeviceCheck)

// The header's right side: connection, assistant, recording of the room, and how long the call has lasted.

import { texts } from '../model/language.js'
import { agentLabel, roomLabels } from './labels.js'
import { View, duration, h, setText } from './view.js'

class CallStatus extends View {
  #room = h('span', { class: 'pill' })
  #agent = h('span', { class: 'pill' })
  #recorded = h('span', { class: 'pill', 'data-tone': 'danger', text: texts.status.recorded })
  #time = h('span', { class: 'timer', role: 'timer', 'aria-label': texts.status.duration })
  #timer = 0
  #state = null

  build() {
    this.append(this.#room, this.#agent, this.#recorded, this.#time)
    this.#timer = setInterval(() => this.#showTime(), 1000)
  }

  disconnectedCallback() {
    super.disconnectedCallback()
    clearInterval(this.#timer)
  }

  update(state) {
    this.#state = state
    const { stage, room, agent, isRoomRecorded, isHeld } = state
    this.hidden = stage !== 'call'
    setText(this.#room, isHeld && room.state === 'connected' ? texts.status.held : roomLabels[room.state])
    this.#room.dataset.tone = { connected: isHeld ? 'warning' : 'good', connecting: 'busy', reconnecting: 'warning' }[room.state] ?? 'off'
    this.#agent.hidden = !agent
    if (agent) {
      setText(this.#agent, texts.status.agent(agentLabel(agent.state).toLocaleLowerCase()))
      this.#agent.dataset.tone = { speaking: 'accent', thinking: 'busy', reconnecting: 'warning', error: 'danger', gone: 'off' }[agent.state] ?? 'good'
    }
    this.#recorded.hidden = !isRoomRecorded
    this.#showTime()
  }

  #showTime() {
    const { startedAt, endedAt } = this.#state?.room ?? {}
    if (startedAt) setText(this.#time, duration((endedAt ?? Date.now()) - startedAt))
  }
}

customElements.define('call-status', CallStatus)

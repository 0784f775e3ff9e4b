// Tells screen readers about changes of state. Errors interrupt, everything else waits.

import { describe } from '../model/problems.js'
import { agentLabels, roomLabels } from './labels.js'
import { View, h } from './view.js'

class LiveAnnouncer extends View {
  #polite
  #assertive

  build() {
    this.#polite = h('div', { role: 'status', 'aria-live': 'polite', class: 'visually-hidden' })
    this.#assertive = h('div', { role: 'alert', 'aria-live': 'assertive', class: 'visually-hidden' })
    this.append(this.#polite, this.#assertive)
  }

  update(state, previous) {
    if (!previous) return
    for (const problem of state.problems) {
      if (previous.problems.some(({ key, code, since }) => key === problem.key && code === problem.code && since === problem.since)) continue
      const { severity, title, text } = describe(problem)
      this.#say(severity === 'error' ? this.#assertive : this.#polite, `${title}. ${text}`)
    }
    const { room, agent, microphone, isHeld, recording } = state
    if (room.state !== previous.room.state) this.#say(this.#polite, roomLabels[room.state])
    if (agent && agent.state !== previous.agent?.state) this.#say(this.#polite, `Assistant: ${agentLabels[agent.state] ?? agent.state}`)
    if (microphone.muted !== previous.microphone.muted) this.#say(this.#polite, microphone.muted ? 'Microphone muted' : 'Microphone unmuted')
    if (microphone.state === 'on' && previous.microphone.state !== 'on') this.#say(this.#polite, 'Microphone on')
    if (isHeld !== previous.isHeld) this.#say(this.#polite, isHeld ? 'On hold' : 'Call resumed')
    if (recording.state === 'running' && previous.recording.state !== 'running') this.#say(this.#polite, 'Recording on this device started')
    if (recording.state === 'done' && previous.recording.state === 'running') this.#say(this.#polite, 'Recording ready for download')
  }

  /** Adds a line, which is read once, and removes it later so that nobody finds it when reading the page. */
  #say(region, text) {
    const line = h('p', { text })
    region.append(line)
    setTimeout(() => line.remove(), 5000)
  }
}

customElements.define('live-announcer', LiveAnnouncer)

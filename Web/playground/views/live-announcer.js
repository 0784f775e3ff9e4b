// Tells screen readers about changes of state.

import { announce } from '../../shared/announce.js'
import { describe } from '../model/problems.js'
import { agentLabels, roomLabels } from './labels.js'
import { View } from './view.js'

class LiveAnnouncer extends View {
  update(state, previous) {
    if (!previous) return
    for (const problem of state.problems) {
      if (previous.problems.some(({ key, code, since }) => key === problem.key && code === problem.code && since === problem.since)) continue
      const { severity, title, text } = describe(problem)
      announce(`${title}. ${text}`, { isError: severity === 'error' })
    }
    const { room, agent, microphone, isHeld, recording } = state
    if (room.state !== previous.room.state) announce(roomLabels[room.state])
    if (agent && agent.state !== previous.agent?.state) announce(`Assistant: ${agentLabels[agent.state] ?? agent.state}`)
    if (microphone.muted !== previous.microphone.muted) announce(microphone.muted ? 'Microphone muted' : 'Microphone unmuted')
    if (microphone.state === 'on' && previous.microphone.state !== 'on') announce('Microphone on')
    if (isHeld !== previous.isHeld) announce(isHeld ? 'On hold' : 'Call resumed')
    if (recording.state === 'running' && previous.recording.state !== 'running') announce('Recording on this device started')
    if (recording.state === 'done' && previous.recording.state === 'running') announce('Recording ready for download')
  }
}

customElements.define('live-announcer', LiveAnnouncer)

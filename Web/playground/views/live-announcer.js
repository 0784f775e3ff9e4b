// Tells screen readers about changes of state.

import { announce } from '../../shared/announce.js'
import { consentTexts } from '../../shared/consent.js'
import { language, texts } from '../model/language.js'
import { describe } from '../model/problems.js'
import { agentLabel, roomLabels } from './labels.js'
import { View } from './view.js'

class LiveAnnouncer extends View {
  update(state, previous) {
    if (!previous) return
    for (const problem of state.problems) {
      if (previous.problems.some(({ key, code, since }) => key === problem.key && code === problem.code && since === problem.since)) continue
      const { severity, title, text } = describe(problem)
      announce(`${title}. ${text}`, { isError: severity === 'error' })
    }
    const { room, agent, microphone, isHeld, isLogged, recording } = state
    const { status } = texts
    if (isLogged && !previous.isLogged) announce(consentTexts[language].logged)
    if (room.state !== previous.room.state) announce(roomLabels[room.state])
    if (agent && agent.state !== previous.agent?.state) announce(texts.status.agent(agentLabel(agent.state)))
    if (microphone.muted !== previous.microphone.muted) announce(microphone.muted ? status.muted : status.unmuted)
    if (microphone.state === 'on' && previous.microphone.state !== 'on') announce(status.microphoneOn)
    if (isHeld !== previous.isHeld) announce(isHeld ? status.held : status.resumed)
    if (recording.state === 'running' && previous.recording.state !== 'running') announce(status.recordingStarted)
    if (recording.state === 'done' && previous.recording.state === 'running') announce(status.recordingReady)
  }
}

customElements.define('live-announcer', LiveAnnouncer)

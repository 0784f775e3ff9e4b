// Turns events of a call's room into events of the state machine.

/** `session` has the machine's `state` and `send`. Rooms of earlier calls, for which `isCurrent` is false, are ignored. */
export class RoomEvents {
  #room
  #attempt
  #session

  constructor(room, attempt, isCurrent, session) {
    this.#room = room
    this.#attempt = attempt
    this.#session = session
    const on = (name, listener) => room.on(name, (...values) => isCurrent() && listener(...values))
    const pass = (name, type, values) => on(name, (...all) => this.#send(type, values(...all)))
    const passOfAgent = (name, listener) => on(name, (value) => value.participant === session.state.call.agent?.identity && listener(value))

    on('state', (value) => {
      if (session.state.call.phase === 'connecting') return
      this.#send('room', { value })
      if (value !== 'connected') return
      this.#noteMuted()
      this.noteAgent()
    })
    for (const name of ['participantJoined', 'participantUpdated']) on(name, () => this.noteAgent())
    on('participantLeft', ({ identity }, reason) => {
      this.#send('agentGone', { identity, isIntended: reason === 'CLIENT_INITIATED' || reason === 'ROOM_DELETED' })
      this.noteAgent()
    })
    pass('agentState', 'agentState', ({ identity }, value) => ({ identity, value }))
    pass('transcript', 'segment', (segment) => ({ segment, name: segment.role === 'user' ? '' : this.#nameOf(segment.participant) }))
    pass('playout', 'playout', (position) => ({ position }))
    pass('text', 'message', ({ participant, text }) => ({ name: this.#nameOf(participant), text }))
    passOfAgent('tool', ({ type, participant, ...tool }) => this.#send(toolEvents[type], tool))
    passOfAgent('card', ({ participant, ...card }) => this.#send('card', { card }))
    passOfAgent('onboardingFinished', ({ completed }) => this.#send('onboardingFinished', { completed }))
    pass('audioBlocked', 'sound', () => ({ isBlocked: true }))
    pass('audioStarted', 'sound', () => ({ isBlocked: false }))
    // Also by others.
    on('muted', ({ identity }, _, track) => track && identity === room.localParticipant.identity && this.#noteMuted())
    pass('recording', 'recorded', ({ active }) => ({ isActive: active }))
    pass('microphoneEnded', 'microphone', (message) => ({ value: 'failed', code: 'ended', message }))
    pass('draining', 'draining', (deadline) => ({ closesAt: Number(deadline) }))
    pass('disconnected', 'disconnected', ({ code, reason, message }) => ({ reason, message, closeCode: code }))
  }

  #send(type, values) {
    this.#session.send(type, { attempt: this.#attempt, ...values })
  }

  #noteMuted() {
    this.#send('muted', { isMuted: this.#room.localParticipant.muted })
  }

  /** Tells the machine about the assistant of the room, or that there is none. */
  noteAgent() {
    const agents = [...this.#room.remoteParticipants.values()].filter(({ kind }) => kind === 'agent')
    const known = this.#session.state.call.agent
    if (known && !agents.some(({ identity }) => identity === known.identity)) {
      this.#send('agentGone', { identity: known.identity, isIntended: false })
    }
    const agent = agents.find(({ identity }) => identity === known?.identity) ?? agents[0]
    if (agent) this.#send('agentPresent', { identity: agent.identity, name: agent.name, value: agent.agentState })
    else this.#send('agentAwaited')
  }

  #nameOf(identity) {
    const participant = this.#room.remoteParticipants.get(identity)
    return participant?.name || (participant?.kind === 'agent' ? '' : identity)
  }
}

const toolEvents = { started: 'toolStarted', finished: 'toolFinished', failed: 'toolFailed' }

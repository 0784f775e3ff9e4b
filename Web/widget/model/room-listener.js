// Turns events of a call's room into events of the state machine.

import { assistantsIn } from '../../shared/assistants.js'

/**
 * `session` has the machine's `state` and `send`. Rooms of earlier calls, for which `isCurrent` is false, are ignored.
 *
 * @typedef {import('../../patchbay.js').Room} Room
 * @typedef {import('../../patchbay.js').RoomEvents} RoomEvents
 */
export class RoomListener {
  #room
  #attempt
  #session

  /**
   * @param {Room} room
   * @param {number} attempt
   * @param {() => boolean} isCurrent
   * @param {{ state: any, send: (type: string, values?: object) => void }} session
   */
  constructor(room, attempt, isCurrent, session) {
    this.#room = room
    this.#attempt = attempt
    this.#session = session
    /**
     * @template {keyof RoomEvents} Name
     * @param {Name} name
     * @param {RoomEvents[Name]} listener
     */
    const on = (name, listener) => room.on(name, /** @type {any} */ ((...values) => isCurrent() && Reflect.apply(listener, null, values)))
    /**
     * @template {keyof RoomEvents} Name
     * @param {Name} name
     * @param {string} type
     * @param {(...values: Parameters<RoomEvents[Name]>) => object} values
     */
    const pass = (name, type, values) => on(name, /** @type {any} */ ((...all) => this.#send(type, Reflect.apply(values, null, all))))
    /**
     * @template {'tool' | 'card' | 'onboardingFinished'} Name
     * @param {Name} name
     * @param {RoomEvents[Name]} listener
     */
    const passOfAgent = (name, listener) => on(name, (/** @type {any} */ value) => value.participant === session.state.call.agent?.identity && listener(value))

    on('state', (value) => {
      if (session.state.call.phase === 'connecting') return
      this.#send('room', { value })
      if (value !== 'connected') return
      this.#noteMuted()
      this.#send('logged', { isLogged: room.logged })
      this.noteAgent()
    })
    on('participantJoined', () => this.noteAgent())
    on('participantUpdated', () => this.noteAgent())
    on('participantLeft', ({ identity }, reason) => {
      this.#send('agentGone', { identity, isIntended: reason === 'CLIENT_INITIATED' || reason === 'ROOM_DELETED' })
      this.noteAgent()
    })
    pass('agentState', 'agentState', ({ identity }, value) => ({ identity, value }))
    on('agentWaiting', ({ reason }) => this.#noteWait(reason))
    pass('transcript', 'segment', (segment) => ({ segment, name: segment.role === 'user' ? '' : this.#nameOf(segment.participant) }))
    pass('playout', 'playout', (position) => ({ position }))
    pass('text', 'message', ({ participant, text }) => ({ name: this.#nameOf(participant), text }))
    passOfAgent('tool', ({ type, participant, ...tool }) => this.#send(toolEvents[type], tool))
    passOfAgent('card', ({ participant, ...card }) => this.#send('card', { card }))
    passOfAgent('onboardingFinished', ({ completed }) => this.#send('onboardingFinished', { completed }))
    pass('audioBlocked', 'sound', (blockage) => ({ blockage }))
    pass('audioStarted', 'sound', () => ({ blockage: null }))
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
    const agents = assistantsIn(this.#room)
    const known = this.#session.state.call.agent
    if (known && !agents.some(({ identity }) => identity === known.identity)) {
      this.#send('agentGone', { identity: known.identity, isIntended: false })
    }
    const agent = agents.find(({ identity }) => identity === known?.identity) ?? agents[0]
    if (agent) this.#send(agent.connected ? 'agentPresent' : 'agentAway', { identity: agent.identity, name: agent.name, value: agent.agentState })
    else {
      this.#send('agentAwaited')
      this.#noteWait(null)
    }
  }

  /** Why an assistant does not come yet; `reason` if none is awaited. */
  #noteWait(reason) {
    this.#send('agentWaiting', { reason: [...this.#room.waitingAgents.values()].at(-1) ?? reason })
  }

  #nameOf(identity) {
    const participant = this.#room.remoteParticipants.get(identity)
    return participant?.name || (participant?.kind === 'agent' ? '' : identity)
  }
}

const toolEvents = { started: 'toolStarted', finished: 'toolFinished', failed: 'toolFailed' }

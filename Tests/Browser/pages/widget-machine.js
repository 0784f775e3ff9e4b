// Cases of the widget's state machine: each is a sentence and what makes it true. No DOM, no network; time is a number.

import { agentStatus, handle, initialState, isDenied } from '/web/widget/model/machine.js'

const definition = { id: 'shop', name: 'Robin', startState: 'collapsed', hasOnboarding: false, quickCommands: [] }

/** Feeds events; keeps the effects of the last one. */
class Machine {
  state = initialState
  effects = []
  now = 1000

  send(type, values = {}) {
    const { state, effects } = handle(this.state, { type, ...values }, this.now)
    this.state = state
    this.effects = effects.map((effect) => effect.type)
    return this
  }

  configured(values) {
    return this.send('configured', { assistant: 'shop', isWanted: true, isTalk: false, ...values })
  }

  loaded(values) {
    return this.configured().send('loaded', { attempt: this.state.attempt, definition: { ...definition, ...values } })
  }

  inCall(values, seen = false) {
    this.loaded(values).send('start')
    return this.send('connected', { attempt: this.state.attempt, identity: 'me', hasSeenOnboarding: seen })
  }

  withAgent(values) {
    return this.inCall(values).send('agentPresent', { identity: 'a', name: 'Robin', value: 'listening' })
  }
}

function equal(found, expected) {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)]
  if (left !== right) throw new Error(`${left} instead of ${right}`)
}

const is = (machine, view, ...effects) => equal([machine.state.view, machine.effects], [view, effects])

export const cases = {
  'nothing is loaded before the widget is wanted'() {
    is(new Machine().configured({ isWanted: false }), 'idle')
    is(new Machine().configured(), 'loading', 'load')
  },

  'without an assistant there is an error, and the attribute repairs it'() {
    const machine = new Machine().configured({ assistant: '' })
    is(machine, 'error')
    equal([machine.state.problem.kind, machine.state.problem.code], ['initialization', 'no_assistant'])
    is(machine.configured(), 'loading', 'load')
  },

  'a late answer to an earlier load is ignored'() {
    const machine = new Machine().configured()
    const { attempt } = machine.state
    machine.configured({ assistant: 'other' })
    is(machine, 'loading', 'load')
    is(machine.send('loaded', { attempt, definition }), 'loading')
  },

  'the start state is used once, and not by the talk view'() {
    is(new Machine().loaded({ startState: 'expanded' }), 'expanded')
    is(new Machine().loaded({ startState: 'expanded' }).send('close'), 'collapsed')
    const talk = new Machine().configured({ isTalk: true })
    is(talk.send('loaded', { attempt: talk.state.attempt, definition: { ...definition, startState: 'expanded' } }), 'collapsed')
    is(new Machine().inCall({ startState: 'expanded' }).send('stop'), 'collapsed', 'leave')
  },

  'a failed load is an initialization error, and a retry loads again'() {
    const machine = new Machine().configured()
    is(machine.send('loadFailed', { attempt: machine.state.attempt, code: 'assistant_not_found', message: 'x' }), 'error')
    equal(machine.state.problem, { kind: 'initialization', code: 'assistant_not_found', message: 'x', hadBegun: false })
    is(machine.send('close'), 'error')
    is(machine.send('start'), 'error')
    is(machine.send('retry'), 'loading', 'load')
  },

  'a call connects, enables the microphone and ends'() {
    const machine = new Machine().loaded()
    is(machine.send('start'), 'connecting', 'connect')
    is(machine.send('start'), 'connecting')
    is(machine.send('connected', { attempt: machine.state.attempt, identity: 'me' }), 'expanded', 'microphone')
    is(machine.send('showTranscript'), 'transcript')
    is(machine.send('showVoice'), 'expanded')
    is(machine.send('stop'), 'collapsed', 'leave')
  },

  'events of a call that was stopped are ignored'() {
    const machine = new Machine().inCall()
    const { attempt } = machine.state
    machine.send('stop')
    is(machine.send('disconnected', { attempt, reason: 'SIGNAL_CLOSE', message: '' }), 'collapsed')
    is(machine.send('connectFailed', { attempt, code: 'x' }), 'collapsed')
    is(machine.send('agentState', { identity: 'a', value: 'thinking' }), 'collapsed')
  },

  'turning the widget off does not end a call, and takes effect after it'() {
    const machine = new Machine().inCall().configured({ isWanted: false })
    is(machine, 'expanded')
    is(machine.send('stop'), 'idle', 'leave')
    equal(machine.state.definition, null)
  },

  'another assistant is loaded after the call'() {
    const machine = new Machine().inCall().configured({ assistant: 'other' })
    is(machine, 'expanded')
    is(machine.send('stop'), 'loading', 'leave', 'load')
  },

  'a call that is lost does not forget what was configured during it'() {
    const lost = (values) => {
      const machine = new Machine().inCall().configured(values)
      return machine.send('disconnected', { attempt: machine.state.attempt, reason: 'SIGNAL_CLOSE', message: '' })
    }
    for (const type of ['close', 'retry', 'start']) {
      is(lost({ isWanted: false }), 'error')
      is(lost({ isWanted: false }).send(type), 'idle')
      is(lost({ assistant: 'other' }).send(type), 'loading', 'load')
    }
    is(lost({}).send('close'), 'collapsed')
    is(lost({}).send('retry'), 'connecting', 'connect')
    is(lost({}).send('start'), 'connecting', 'connect')
  },

  'a connection that is refused can be retried or closed'() {
    const machine = new Machine().loaded().send('start')
    is(machine.send('connectFailed', { attempt: machine.state.attempt, code: 'token_expired', message: '' }), 'error', 'leave')
    equal(machine.state.problem.kind, 'connection')
    is(machine.send('retry'), 'connecting', 'connect')
    machine.send('connectFailed', { attempt: machine.state.attempt, kind: 'other', code: 'no_token' })
    equal(machine.state.problem.kind, 'other')
    is(machine.send('close'), 'collapsed')
  },

  'a token provider that never answers is a timeout'() {
    const machine = new Machine().loaded().send('start')
    const { attempt, deadline } = machine.state
    equal(deadline, 31_000)
    machine.now = 30_999
    is(machine.send('tick'), 'connecting')
    machine.now = 31_000
    is(machine.send('tick'), 'error', 'leave')
    equal(machine.state.problem.code, 'timeout')
    is(machine.send('connected', { attempt, identity: 'me' }), 'error')
  },

  'a lost call is an error, one that ended is not'() {
    const lost = new Machine().inCall()
    is(lost.send('disconnected', { attempt: lost.state.attempt, reason: 'token_expired', message: 'm' }), 'error')
    equal(lost.state.problem.hadBegun, true)
    const ended = new Machine().inCall()
    is(ended.send('disconnected', { attempt: ended.state.attempt, reason: 'ROOM_DELETED', message: 'm' }), 'collapsed')
  },

  'the status follows the assistant: idle, thinking, waiting'() {
    const machine = new Machine().withAgent()
    const statuses = ['listening', 'thinking', 'speaking', 'initializing'].map((value) => agentStatus(machine.send('agentState', { identity: 'a', value }).state))
    equal(statuses, ['idle', 'thinking', 'waiting', 'idle'])
    equal(agentStatus(machine.send('toolStarted', { id: 't', name: 'find' }).state), 'thinking')
    equal(agentStatus(machine.send('toolFinished', { id: 't' }).state), 'idle')
    equal(agentStatus(machine.send('agentState', { identity: 'other', value: 'thinking' }).state), 'idle')
    machine.send('agentState', { identity: 'a', value: 'speaking' }).send('room', { value: 'reconnecting' })
    equal(agentStatus(machine.state), 'idle')
  },

  'a room without an assistant is reported after ten seconds, until one comes'() {
    const machine = new Machine().inCall()
    equal(machine.state.deadline, 11_000)
    machine.now = 11_000
    equal(machine.send('tick').state.call.absence, 'missing')
    equal(machine.state.deadline, null)
    equal(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }).state.call.absence, null)
    equal(machine.send('agentGone', { identity: 'a', isIntended: true }).state.call.absence, 'left')
  },

  'an assistant that is lost may be replaced'() {
    const machine = new Machine().withAgent().send('agentGone', { identity: 'a', isIntended: false })
    equal([machine.state.call.absence, machine.state.deadline], ['lost', 11_000])
    equal(machine.send('agentPresent', { identity: 'b', name: '', value: 'listening' }).state.call.absence, null)
    equal(machine.state.deadline, null)
  },

  'the browser’s question for the microphone is noted only if it lasts'() {
    const machine = new Machine().withAgent().send('microphone', { value: 'asking' })
    equal(machine.state.deadline, 1700)
    machine.now = 1700
    equal(machine.send('tick').state.call.microphone.state, 'prompted')
    equal(machine.send('microphone', { value: 'on' }).state.call.microphone.state, 'on')
    equal(machine.state.deadline, null)
  },

  'a blocked microphone has a screen of its own until the user types or it is allowed'() {
    const machine = new Machine().withAgent().send('microphone', { value: 'failed', code: 'permission_denied' })
    equal(isDenied(machine.state), true)
    is(machine.send('typeInstead'), 'transcript')
    equal(isDenied(machine.state), false)
    machine.send('microphone', { value: 'on' })
    equal([isDenied(machine.state), machine.state.call.isTyping], [false, false])
  },

  'onboarding is asked for once, remembered when it was heard, and again of a replacement'() {
    const machine = new Machine().inCall({ hasOnboarding: true })
    is(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }), 'expanded', 'onboarding')
    is(machine.send('agentPresent', { identity: 'a', name: 'R', value: 'listening' }), 'expanded')
    machine.send('agentGone', { identity: 'a', isIntended: false })
    is(machine.send('agentPresent', { identity: 'b', name: '', value: 'listening' }), 'expanded', 'onboarding')
    is(machine.send('onboardingFinished', { completed: true }), 'expanded', 'remember')
    is(machine.send('onboardingFinished', { completed: true }), 'expanded')
    const seen = new Machine().inCall({ hasOnboarding: true }, true)
    is(seen.send('agentPresent', { identity: 'a', name: '', value: 'listening' }), 'expanded')
    const interrupted = new Machine().inCall({ hasOnboarding: true }).send('agentPresent', { identity: 'a', name: '', value: 'listening' })
    is(interrupted.send('onboardingFinished', { completed: false }), 'expanded')
    const skipped = new Machine().inCall({ hasOnboarding: true }).send('agentPresent', { identity: 'a', name: '', value: 'listening' })
    is(skipped.send('onboardingSkipped'), 'expanded', 'remember')
  },

  'a text that starts a call is said once the assistant is there'() {
    const machine = new Machine().loaded().send('start', { text: 'Hello' })
    is(machine.send('connected', { attempt: machine.state.attempt, identity: 'me' }), 'expanded', 'microphone')
    is(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }), 'expanded', 'send')
    is(machine.send('agentPresent', { identity: 'a', name: 'R', value: 'listening' }), 'expanded')
  },

  'a failed tool has a card, which the assistant’s card replaces; older cards disappear'() {
    const machine = new Machine().withAgent().send('toolFailed', { id: 't', name: 'find_order', message: 'm', retry: true })
    const [card] = machine.state.call.cards
    equal([card.kind, card.title, card.isOwn, card.actions.length], ['error', 'find order', true, 1])
    machine.send('card', { card: { id: 't', kind: 'error', title: 'T', body: 'B', actions: [] } })
    equal(machine.state.call.cards.map(({ title, isOwn }) => [title, isOwn]), [['T', false]])
    for (let index = 0; index < 20; index++) machine.send('card', { card: { id: `c${index}`, kind: 'info', title: 't', body: 'b', actions: [] } })
    equal([machine.state.call.cards.length, machine.state.call.cards.at(-1).id], [8, 'c19'])
    machine.send('cardSending', { id: 'c19' }).send('cardAnswered', { id: 'c19', note: 'Send: t' })
    equal([machine.state.call.cards.length, machine.state.call.transcript.lines.at(-1).text], [7, 'Send: t'])
  },

  'the same events give the same states'() {
    const run = () => {
      const machine = new Machine().withAgent().send('typed', { text: 'a' })
      machine.send('segment', { segment: { id: 's', rev: 1, role: 'assistant', text: 'Hello', final: true, language: '' }, name: '' })
      return machine.send('card', { card: { id: 'c', kind: 'info', title: 't', body: 'b', actions: [] } }).state
    }
    equal(run(), run())
  },

  'no sequence of events throws, and views and calls agree'() {
    const events = [
      ['configured', { assistant: 'shop', isWanted: true, isTalk: false }], ['configured', { assistant: '', isWanted: true, isTalk: true }],
      ['configured', { assistant: 'shop', isWanted: false, isTalk: false }], ['loaded', { definition }], ['loadFailed', { code: 'x', message: '' }],
      ['start'], ['connected', { identity: 'me' }], ['connectFailed', { code: 'x' }], ['disconnected', { reason: 'x' }], ['stop'], ['close'], ['retry'],
      ['showTranscript'], ['showVoice'], ['typeInstead'], ['tick'], ['room', { value: 'reconnecting' }], ['room', { value: 'connected' }],
      ['agentPresent', { identity: 'a', name: '' }], ['agentGone', { identity: 'a' }], ['agentAwaited'], ['microphone', { value: 'asking' }],
      ['microphone', { value: 'failed', code: 'permission_denied' }], ['microphone', { value: 'on' }], ['typed', { text: 'x' }],
      ['toolFailed', { id: 't', name: 'n', message: 'm' }], ['cardDismissed', { id: 't' }], ['onboardingFinished', { completed: true }],
    ]
    let random = 1
    const machine = new Machine()
    for (let step = 0; step < 20_000; step++) {
      // A linear congruential generator: the same sequence each time.
      random = (random * 1_103_515_245 + 12_345) % 2 ** 31
      const [type, values] = events[Math.floor((random / 2 ** 31) * events.length)]
      machine.now += step % 7 === 0 ? 900 : 10
      machine.send(type, values)
      const { view, call, problem, deadline } = machine.state
      const isCallView = view === 'connecting' || view === 'transcript' || (view === 'expanded' && call.phase !== 'none')
      if (isCallView !== (call.phase !== 'none')) throw new Error(`step ${step}: ${type} leads to ${view} with a call that is ${call.phase}`)
      if ((view === 'error') !== (problem !== null)) throw new Error(`step ${step}: ${view} with the problem ${problem?.code}`)
      if (call.phase === 'none' && deadline !== null) throw new Error(`step ${step}: a deadline without a call`)
    }
  },
}

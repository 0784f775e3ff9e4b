// The widget's state machine. Time is a number.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vibrationOf } from '../../../Web/widget/model/vibration.js'
import { describeNotices } from '../../../Web/widget/model/texts.js'
import { agentStatus, handle, initialState, hasMicrophoneScreen } from '../../../Web/widget/model/machine.js'

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

/** Properties that are undefined are as good as missing. */
const equal = (found, expected) => assert.deepEqual(plain(found), plain(expected))
const plain = (value) => JSON.parse(JSON.stringify(value))

const is = (machine, view, ...effects) => equal([machine.state.view, machine.effects], [view, effects])

test('nothing is loaded before the widget is wanted', () => {
  is(new Machine().configured({ isWanted: false }), 'idle')
  is(new Machine().configured(), 'loading', 'load')
})

test('without an assistant there is an error, and the attribute repairs it', () => {
  const machine = new Machine().configured({ assistant: '' })
  is(machine, 'error')
  equal([machine.state.problem.kind, machine.state.problem.code], ['initialization', 'no_assistant'])
  is(machine.configured(), 'loading', 'load')
})

// What the icon alone does, event by event, and the view after each.
const iconOnly = [
  ['the call begins with the transcript, and ends at the icon', [
    ['start', {}, 'connecting'], ['connected', { identity: 'me' }, 'transcript'], ['showVoice', {}, 'transcript'], ['stop', {}, 'collapsed'],
  ]],
  ['a connection that fails turns the icon red, and can be tried again or closed', [
    ['start', {}, 'connecting'], ['connectFailed', { code: 'x' }, 'error'], ['retry', {}, 'connecting'], ['connectFailed', { code: 'x' }, 'error'],
    ['close', {}, 'collapsed'],
  ]],
  ['a call that is lost turns the icon red', [
    ['start', {}, 'connecting'], ['connected', { identity: 'me' }, 'transcript'], ['disconnected', { reason: 'SIGNAL_CLOSE' }, 'error'], ['start', {}, 'connecting'],
  ]],
  ['a connection can be cancelled', [['start', {}, 'connecting'], ['stop', {}, 'collapsed']]],
  ['a blocked microphone leads back to the transcript', [
    ['start', {}, 'connecting'], ['connected', { identity: 'me' }, 'transcript'], ['microphone', { value: 'failed', code: 'permission_denied' }, 'transcript'],
    ['typeInstead', {}, 'transcript'],
  ]],
  ['the attribute applies at once, in both directions', [
    ['start', {}, 'connecting'], ['connected', { identity: 'me' }, 'transcript'],
    ['configured', { assistant: 'shop', isWanted: true, isTalk: false, isIconOnly: false }, 'transcript'], ['showVoice', {}, 'expanded'],
    ['configured', { assistant: 'shop', isWanted: true, isTalk: false, isIconOnly: true }, 'transcript'],
  ]],
  ['the talk view has its voice view with the icon, too', [
    ['configured', { assistant: 'shop', isWanted: true, isTalk: true, isIconOnly: true }, 'collapsed'], ['start', {}, 'connecting'],
    ['connected', { identity: 'me' }, 'expanded'],
  ]],
]
for (const [name, events] of iconOnly) {
  test(`the icon alone: ${name}`, () => {
    const machine = new Machine().configured({ isIconOnly: true })
    // Whatever the definition says, the icon is closed at first.
    is(machine.send('loaded', { attempt: machine.state.attempt, definition: { ...definition, startState: 'expanded' } }), 'collapsed')
    for (const [type, values, view] of events) equal([type, machine.send(type, values).state.view], [type, view])
  })
}

test('the opened panel closes when only the icon is left', () => {
  is(new Machine().loaded({ startState: 'expanded' }).configured({ isIconOnly: true }), 'collapsed')
})

test('a widget that is not wanted opens nothing', () => {
  const machine = new Machine().configured({ isWanted: false })
  for (const type of ['start', 'retry', 'close', 'showTranscript', 'typeInstead']) is(machine.send(type), 'idle')
})

test('a late answer to an earlier load is ignored', () => {
  const machine = new Machine().configured()
  const { attempt } = machine.state
  machine.configured({ assistant: 'other' })
  is(machine, 'loading', 'load')
  is(machine.send('loaded', { attempt, definition }), 'loading')
})

test('the start state is used once, and not by the talk view', () => {
  is(new Machine().loaded({ startState: 'expanded' }), 'expanded')
  is(new Machine().loaded({ startState: 'expanded' }).send('close'), 'collapsed')
  const talk = new Machine().configured({ isTalk: true })
  is(talk.send('loaded', { attempt: talk.state.attempt, definition: { ...definition, startState: 'expanded' } }), 'collapsed')
  is(new Machine().inCall({ startState: 'expanded' }).send('stop'), 'collapsed', 'leave')
})

test('a failed load is an initialization error, and a retry loads again', () => {
  const machine = new Machine().configured()
  is(machine.send('loadFailed', { attempt: machine.state.attempt, code: 'assistant_not_found', message: 'x' }), 'error')
  equal(machine.state.problem, { kind: 'initialization', code: 'assistant_not_found', message: 'x', hadBegun: false, pendingTexts: [] })
  is(machine.send('close'), 'error')
  is(machine.send('start'), 'error')
  is(machine.send('retry'), 'loading', 'load')
})

test('a call connects, enables the microphone and ends', () => {
  const machine = new Machine().loaded()
  is(machine.send('start'), 'connecting', 'connect')
  is(machine.send('start'), 'connecting')
  is(machine.send('connected', { attempt: machine.state.attempt, identity: 'me' }), 'expanded', 'microphone')
  is(machine.send('showTranscript'), 'transcript')
  is(machine.send('showVoice'), 'expanded')
  is(machine.send('stop'), 'collapsed', 'leave')
})

test('events of a call that was stopped are ignored', () => {
  const machine = new Machine().inCall()
  const { attempt } = machine.state
  machine.send('stop')
  is(machine.send('disconnected', { attempt, reason: 'SIGNAL_CLOSE', message: '' }), 'collapsed')
  is(machine.send('connectFailed', { attempt, code: 'x' }), 'collapsed')
  is(machine.send('agentState', { identity: 'a', value: 'thinking' }), 'collapsed')
})

test('turning the widget off does not end a call, and takes effect after it', () => {
  const machine = new Machine().inCall().configured({ isWanted: false })
  is(machine, 'expanded')
  is(machine.send('stop'), 'idle', 'leave')
  equal(machine.state.definition, null)
})

test('another assistant is loaded after the call', () => {
  const machine = new Machine().inCall().configured({ assistant: 'other' })
  is(machine, 'expanded')
  is(machine.send('stop'), 'loading', 'leave', 'load')
})

test('a call that is lost does not forget what was configured during it', () => {
  const lost = (values) => {
    const machine = new Machine().inCall().configured(values)
    return machine.send('disconnected', { attempt: machine.state.attempt, reason: 'SIGNAL_CLOSE', message: '' })
  }
  for (const type of ['close', 'retry', 'start']) {
    is(lost({ isWanted: false }), 'error', 'leave')
    is(lost({ isWanted: false }).send(type), 'idle')
    is(lost({ assistant: 'other' }).send(type), 'loading', 'load')
  }
  is(lost({}).send('close'), 'collapsed')
  is(lost({}).send('retry'), 'connecting', 'connect')
  is(lost({}).send('start'), 'connecting', 'connect')
})

test('a connection that is refused can be retried or closed', () => {
  const machine = new Machine().loaded().send('start')
  is(machine.send('connectFailed', { attempt: machine.state.attempt, code: 'token_expired', message: '' }), 'error', 'leave')
  equal(machine.state.problem.kind, 'connection')
  is(machine.send('retry'), 'connecting', 'connect')
  machine.send('connectFailed', { attempt: machine.state.attempt, kind: 'other', code: 'no_token' })
  equal(machine.state.problem.kind, 'other')
  is(machine.send('close'), 'collapsed')
})

test('a token provider that never answers is a timeout', () => {
  const machine = new Machine().loaded().send('start')
  const { attempt, deadline } = machine.state
  equal(deadline, 31_000)
  machine.now = 30_999
  is(machine.send('tick'), 'connecting')
  machine.now = 31_000
  is(machine.send('tick'), 'error', 'leave')
  equal(machine.state.problem.code, 'timeout')
  is(machine.send('connected', { attempt, identity: 'me' }), 'error')
})

test('a lost call is an error, one that ended is not', () => {
  const lost = new Machine().inCall()
  is(lost.send('disconnected', { attempt: lost.state.attempt, reason: 'token_expired', message: 'm' }), 'error', 'leave')
  equal(lost.state.problem.hadBegun, true)
  const ended = new Machine().inCall()
  is(ended.send('disconnected', { attempt: ended.state.attempt, reason: 'ROOM_DELETED', message: 'm' }), 'collapsed', 'leave')
})

test('the status follows the assistant: idle, thinking, waiting, initializing, error', () => {
  const machine = new Machine().withAgent()
  const statuses = ['listening', 'thinking', 'speaking', 'initializing'].map((value) => agentStatus(machine.send('agentState', { identity: 'a', value }).state))
  equal(statuses, ['idle', 'thinking', 'waiting', 'initializing'])
  machine.send('toolStarted', { id: 'e', name: 'find' })
  equal(agentStatus(machine.send('agentState', { identity: 'a', value: 'error' }).state), 'error')
  equal(agentStatus(machine.send('agentState', { identity: 'a', value: 'listening' }).send('toolFinished', { id: 'e' }).state), 'idle')
  equal(agentStatus(new Machine().inCall().send('agentPresent', { identity: 'a', name: '' }).state), 'idle')
  equal(agentStatus(machine.send('toolStarted', { id: 't', name: 'find' }).state), 'thinking')
  equal(agentStatus(machine.send('toolFinished', { id: 't' }).state), 'idle')
  equal(agentStatus(machine.send('agentState', { identity: 'other', value: 'thinking' }).state), 'idle')
  machine.send('agentState', { identity: 'a', value: 'speaking' }).send('room', { value: 'reconnecting' })
  equal(agentStatus(machine.state), 'idle')
})

test('a room without an assistant is reported after ten seconds, until one comes', () => {
  const machine = new Machine().inCall()
  equal(machine.state.deadline, 11_000)
  machine.now = 11_000
  equal(machine.send('tick').state.call.absence, 'missing')
  equal(machine.state.deadline, null)
  equal(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }).state.call.absence, null)
  equal(machine.send('agentGone', { identity: 'a', isIntended: true }).state.call.absence, 'left')
})

test('an assistant that is lost may be replaced', () => {
  const machine = new Machine().withAgent().send('agentGone', { identity: 'a', isIntended: false })
  equal([machine.state.call.absence, machine.state.deadline], ['lost', 11_000])
  equal(machine.send('agentPresent', { identity: 'b', name: '', value: 'listening' }).state.call.absence, null)
  equal(machine.state.deadline, null)
})

test('an assistant whose connection is lost is gone after three seconds, and there again when it resumes', () => {
  const away = { identity: 'a', name: 'Robin', value: 'speaking' }
  const machine = new Machine().withAgent().send('agentAway', away)
  equal([agentStatus(machine.state), machine.state.call.absence, machine.state.deadline], ['idle', null, 4000])
  machine.now = 3000
  // Told again, for example because somebody else has joined.
  equal(machine.send('agentAway', away).state.deadline, 4000)
  machine.now = 4000
  machine.send('tick')
  equal([machine.state.call.absence, machine.state.call.agent.identity, machine.state.deadline], ['lost', 'a', null])
  equal(machine.send('agentAway', away).state.call.absence, 'lost')
  machine.send('agentPresent', { ...away, value: 'listening' })
  equal([machine.state.call.absence, machine.state.call.agent.state, machine.state.deadline], [null, 'listening', null])
  // The user's own connection is restored meanwhile.
  machine.send('agentAway', away).send('room', { value: 'reconnecting' })
  equal(machine.state.deadline, null)
  equal(machine.send('room', { value: 'connected' }).send('agentAway', away).state.deadline, 7000)
  equal(machine.send('agentGone', { identity: 'a', isIntended: false }).state.call.absence, 'lost')
})

test('an assistant without a free worker is waited for, until it comes or nobody does', () => {
  const machine = new Machine().inCall().send('agentWaiting', { reason: 'no_worker' })
  equal([machine.state.call.wait, machine.state.call.absence], ['no_worker', null])
  equal(machine.send('agentWaiting', { reason: 'busy' }).state.call.wait, 'busy')
  equal(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }).state.call.wait, null)
  machine.send('agentGone', { identity: 'a', isIntended: false }).send('agentWaiting', { reason: 'busy' })
  equal([machine.state.call.wait, machine.state.call.absence], ['busy', 'lost'])
  machine.send('agentWaiting', { reason: 'ended' })
  equal([machine.state.call.wait, machine.state.call.absence], [null, 'lost'])
  equal(new Machine().inCall().send('agentWaiting', { reason: 'ended' }).state.call.absence, 'missing')
  equal(new Machine().withAgent().send('agentWaiting', { reason: 'ended' }).state.call.absence, null)
})

test('what an assistant is asked at its arrival waits for its connection', () => {
  const machine = new Machine().loaded({ hasOnboarding: true }).send('start', { text: 'Hello' })
  machine.send('connected', { attempt: machine.state.attempt, identity: 'me' })
  is(machine.send('agentAway', { identity: 'a', name: '' }), 'expanded')
  is(machine.send('agentPresent', { identity: 'a', name: '' }), 'expanded', 'send')
  machine.send('agentAway', { identity: 'a', name: '' })
  is(machine.send('agentPresent', { identity: 'a', name: '' }), 'expanded')
  const other = new Machine().inCall({ hasOnboarding: true })
  is(other.send('agentAway', { identity: 'a', name: '' }), 'expanded')
  is(other.send('agentPresent', { identity: 'a', name: '' }), 'expanded', 'onboarding')
})

test('the browser’s question for the microphone is noted only if it lasts', () => {
  const machine = new Machine().withAgent().send('microphone', { value: 'asking' })
  equal(machine.state.deadline, 1700)
  machine.now = 1700
  equal(machine.send('tick').state.call.microphone.state, 'prompted')
  equal(machine.send('microphone', { value: 'on' }).state.call.microphone.state, 'on')
  equal(machine.state.deadline, null)
})

test('a blocked microphone has a screen of its own until the user types or it is allowed', () => {
  const machine = new Machine().withAgent().send('microphone', { value: 'failed', code: 'permission_denied' })
  equal(hasMicrophoneScreen(machine.state), true)
  is(machine.send('typeInstead'), 'transcript')
  equal(hasMicrophoneScreen(machine.state), false)
  machine.send('microphone', { value: 'on' })
  equal([hasMicrophoneScreen(machine.state), machine.state.call.isTyping], [false, false])
})

test('before the browser asks for the microphone, its user is told, and may type instead', () => {
  const machine = new Machine().withAgent().send('microphone', { value: 'unasked' })
  equal([hasMicrophoneScreen(machine.state), machine.state.deadline], [true, null])
  is(machine.send('typeInstead'), 'transcript')
  equal(hasMicrophoneScreen(machine.state), false)
  machine.send('microphone', { value: 'asking' }).send('microphone', { value: 'failed', code: 'permission_denied' })
  equal(hasMicrophoneScreen(machine.state), false)
  equal(new Machine().withAgent().send('microphone', { value: 'unasked' }).send('stop').state.call.microphone.state, 'off')
})

test('onboarding is asked for once, remembered when it was heard, and again of a replacement', () => {
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
})

test('a text that starts a call is said once the assistant is there', () => {
  const machine = new Machine().loaded().send('start', { text: 'Hello' })
  is(machine.send('connected', { attempt: machine.state.attempt, identity: 'me' }), 'expanded', 'microphone')
  is(machine.send('agentPresent', { identity: 'a', name: '', value: 'listening' }), 'expanded', 'send')
  is(machine.send('agentPresent', { identity: 'a', name: 'R', value: 'listening' }), 'expanded')
})

test('a failed tool has a card, which the assistant’s card replaces; older cards disappear', () => {
  const machine = new Machine().withAgent().send('toolFailed', { id: 't', name: 'find_order', message: 'm', retry: true })
  const [card] = machine.state.call.cards
  equal([card.kind, card.title, card.isOwn, card.actions.length], ['error', 'find order', true, 1])
  machine.send('card', { card: { id: 't', kind: 'error', title: 'T', body: 'B', actions: [] } })
  equal(machine.state.call.cards.map(({ title, isOwn }) => [title, isOwn]), [['T', false]])
  for (let index = 0; index < 20; index++) machine.send('card', { card: { id: `c${index}`, kind: 'info', title: 't', body: 'b', actions: [] } })
  equal([machine.state.call.cards.length, machine.state.call.cards.at(-1).id], [8, 'c19'])
  machine.send('cardSending', { id: 'c19' }).send('cardAnswered', { id: 'c19', note: 'Send: t' })
  equal([machine.state.call.cards.length, machine.state.call.transcript.lines.at(-1).text], [7, 'Send: t'])
})

test('a phone vibrates when a conversation begins, ends or fails, and for a failed tool', () => {
  const machine = new Machine().loaded()
  const felt = (type, values) => {
    const previous = machine.state
    return vibrationOf(machine.send(type, values).state, previous)
  }
  equal(felt('start'), [20])
  equal(felt('connected', { identity: 'me' }), null)
  equal(felt('agentPresent', { identity: 'a', name: '' }), null)
  equal(felt('toolFailed', { id: 't', name: 'n', message: 'm' }), [20, 60, 20])
  equal(felt('agentState', { identity: 'a', value: 'thinking' }), null)
  equal(felt('stop'), [10])
  equal(felt('start'), [20])
  equal(felt('connectFailed', { code: 'x' }), [20, 60, 20])
  equal(felt('close'), null)
})

test('the same events give the same states', () => {
  const run = () => {
    const machine = new Machine().withAgent().send('typed', { text: 'a' })
    machine.send('segment', { segment: { id: 's', rev: 1, role: 'assistant', text: 'Hello', final: true, language: '' }, name: '' })
    return machine.send('card', { card: { id: 'c', kind: 'info', title: 't', body: 'b', actions: [] } }).state
  }
  equal(run(), run())
})

test('no sequence of events throws, and views and calls agree', () => {
  const events = [
    ['configured', { assistant: 'shop', isWanted: true, isTalk: false }], ['configured', { assistant: '', isWanted: true, isTalk: true }],
    ['configured', { assistant: 'shop', isWanted: true, isTalk: false, isIconOnly: true }],
    ['configured', { assistant: 'shop', isWanted: false, isTalk: false }], ['loaded', { definition }], ['loadFailed', { code: 'x', message: '' }],
    ['start'], ['connected', { identity: 'me' }], ['connectFailed', { code: 'x' }], ['disconnected', { reason: 'x' }], ['stop'], ['close'], ['retry'],
    ['showTranscript'], ['showVoice'], ['typeInstead'], ['tick'], ['room', { value: 'reconnecting' }], ['room', { value: 'connected' }],
    ['agentPresent', { identity: 'a', name: '' }], ['agentAway', { identity: 'a', name: '' }], ['agentGone', { identity: 'a' }], ['agentWaiting', { reason: 'busy' }], ['agentWaiting', { reason: 'ended' }], ['agentAwaited'], ['microphone', { value: 'asking' }],
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
    const { view, call, problem, deadline, isIconOnly, isTalk } = machine.state
    const isCallView = view === 'connecting' || view === 'transcript' || (view === 'expanded' && call.phase !== 'none')
    if (isCallView !== (call.phase !== 'none')) throw new Error(`step ${step}: ${type} leads to ${view} with a call that is ${call.phase}`)
    if (isIconOnly && !isTalk && view === 'expanded') throw new Error(`step ${step}: ${type} expands the icon`)
    if ((view === 'error') !== (problem !== null)) throw new Error(`step ${step}: ${view} with the problem ${problem?.code}`)
    if (call.phase === 'none' && deadline !== null) throw new Error(`step ${step}: a deadline without a call`)
  }
})

test('what is typed before the assistant has joined is sent once it is there, up to a limit', () => {
  const machine = new Machine().inCall()
  for (let count = 0; count < 9; count++) machine.send('queued', { text: `text ${count}` })
  equal([machine.state.call.pendingTexts.length, machine.state.call.transcript.lines], [8, []])
  assert.match(describeNotices(machine.state).find(({ key }) => key === 'queued').text, /as soon as Robin is there/)
  const { state, effects } = handle(machine.state, { type: 'agentPresent', identity: 'a', name: 'Robin', value: 'listening' }, 2000)
  equal(effects.map(({ type, text }) => [type, text]), Array.from({ length: 8 }, (_, count) => ['send', `text ${count}`]))
  equal(state.call.pendingTexts, [])
})

test('nothing is queued with an assistant, or after it has left', () => {
  const machine = new Machine().withAgent().send('queued', { text: 'x' })
  equal(machine.state.call.pendingTexts, [])
  machine.send('agentGone', { identity: 'a', isIntended: true }).send('queued', { text: 'x' })
  equal(machine.state.call.pendingTexts, [])
})

test('a text that could not be sent belongs to the next try, and to no later call', () => {
  const machine = new Machine().loaded().send('start', { text: 'Hello' })
  machine.send('connectFailed', { attempt: machine.state.attempt, code: 'x' }).send('retry')
  equal(machine.state.call.pendingTexts, ['Hello'])
  machine.now = 40_000
  machine.send('tick').send('retry')
  equal(machine.state.call.pendingTexts, ['Hello'])
  machine.send('connectFailed', { attempt: machine.state.attempt, code: 'x' }).send('close').send('start')
  equal(machine.state.call.pendingTexts, [])
})

test('a text during the introduction ends it for good', () => {
  const machine = new Machine().withAgent({ hasOnboarding: true })
  equal([machine.state.call.onboarding, machine.effects], ['asked', ['onboarding']])
  machine.send('typed', { text: 'Where is my order?' })
  equal([machine.state.call.onboarding, machine.effects, machine.state.call.transcript.lines.length], ['done', ['remember'], 1])
  equal(machine.send('typed', { text: 'And now?' }).effects, [])
})

test('a call that begins with a text has no introduction, which is not remembered', () => {
  const machine = new Machine().loaded({ hasOnboarding: true }).send('start', { text: 'Hello' })
  machine.send('connected', { attempt: machine.state.attempt, identity: 'me', hasSeenOnboarding: false })
  machine.send('agentPresent', { identity: 'a', name: 'Robin', value: 'listening' })
  equal([machine.state.call.onboarding, machine.effects], ['done', ['send']])
  equal(machine.send('typed', { text: 'Hello' }).effects, [])
})

test('another gateway is asked for the assistant anew, after a call once it has ended', () => {
  is(new Machine().loaded().configured({ url: 'wss://other' }), 'loading', 'load')
  const machine = new Machine().inCall().configured({ url: 'wss://other' })
  is(machine, 'expanded')
  is(machine.send('stop'), 'loading', 'leave', 'load')
  is(machine.send('loaded', { attempt: machine.state.attempt, definition }), 'collapsed')
  is(machine.configured({ url: 'wss://other' }), 'collapsed')
})

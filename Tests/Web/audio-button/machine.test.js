// The button's states, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { initial, next } from '../../../Web/audio-button/machine.js'

const clip = (status, more = {}) => ({ id: 'c1', status, progress: status === 'ready' ? 100 : 0, ...more })
const problem = (code, during) => ({ code, message: '', during })

/** Applies events, where each `[type, details]` answers the current attempt. Returns the last state, and the last effects as texts. */
function after(...events) {
  let [state, effects] = [initial, []]
  for (const [type, details] of events.map((event) => [event].flat())) {
    ;({ state, effects } = next(state, { type, attempt: state.attempt, ...details }))
  }
  return { state, view: state.view, effects: effects.map(({ type, id }) => (id ? `${type} ${id}` : type)) }
}

const idle = ['configured', ['found', { clip: null }]]
const generating = [...idle, 'pressed', ['started', { clip: clip('queued') }]]
const completed = ['configured', ['found', { clip: clip('ready') }]]

test('the button asks whether there is audio, and then offers to generate or to play it', () => {
  assert.deepEqual(after('configured').effects, ['check'])
  assert.equal(after('configured').view, 'checking')
  assert.equal(after(...idle).view, 'idle')
  assert.equal(after(...completed).view, 'completed')
  assert.deepEqual(after(...completed, 'pressed').effects, ['play c1'])
  assert.equal(after(...completed, 'pressed').view, 'completed')
  // The button does not begin with an earlier failure.
  for (const status of ['failed', 'cancelled']) assert.equal(after('configured', ['found', { clip: clip(status) }]).view, 'idle')
})

test('a job that runs already is followed', () => {
  const { view, state, effects } = after('configured', ['found', { clip: clip('generating', { progress: 40 }) }])
  assert.deepEqual([view, state.progress, effects], ['generating', 40, ['poll c1']])
})

test('generating ends with the audio, and its progress never falls', () => {
  assert.deepEqual(after(...idle, 'pressed').effects, ['generate'])
  assert.deepEqual(after(...generating).effects, ['poll c1'])
  const half = [...generating, ['polled', { clip: clip('generating', { progress: 50 }) }]]
  assert.equal(after(...half, ['polled', { clip: clip('queued') }]).state.progress, 50)
  const done = after(...half, ['polled', { clip: clip('ready') }])
  assert.deepEqual([done.view, done.state.progress, done.effects], ['completed', 100, []])
  assert.equal(after(...idle, 'pressed', ['started', { clip: clip('ready') }]).view, 'completed')
})

test('a cancelled job is deleted, and what it answers later changes nothing', () => {
  const cancelled = after(...generating, 'pressed')
  assert.deepEqual([cancelled.view, cancelled.effects], ['idle', ['delete c1']])
  for (const late of ['ready', 'failed', 'generating']) {
    const { state, effects } = next(cancelled.state, { type: 'polled', attempt: cancelled.state.attempt - 1, clip: clip(late) })
    assert.deepEqual([state, effects], [cancelled.state, []], late)
  }
})

test('a job that is cancelled before the gateway has answered is deleted when it does', () => {
  const { state, view, effects } = after(...idle, 'pressed', 'pressed')
  assert.deepEqual([view, effects], ['idle', []])
  const attempt = state.attempt - 1
  const late = next(state, { type: 'started', attempt, clip: clip('queued') })
  assert.deepEqual([late.state.view, late.effects], ['idle', [{ type: 'delete', attempt: state.attempt, id: 'c1' }]])
  // Audio that existed already is shown, not deleted.
  assert.deepEqual(next(state, { type: 'started', attempt, clip: clip('ready') }).state.view, 'completed')
  // A failed request leaves nothing to delete, and the response to a replaced request is ignored.
  assert.deepEqual(next(state, { type: 'refused', attempt, problem: problem('connection_failed', 'generate') }), { state: { ...state, cancelled: null }, effects: [] })
  const replaced = next(after(...idle, 'pressed').state, { type: 'configured' }).state
  assert.deepEqual(next(replaced, { type: 'started', attempt: replaced.attempt - 1, clip: clip('queued') }), { state: replaced, effects: [] })
})

test('a failure is tried again where it happened', () => {
  const unchecked = after('configured', ['refused', { problem: problem('connection_failed', 'check') }])
  assert.equal(unchecked.view, 'failed')
  assert.deepEqual(next(unchecked.state, { type: 'pressed' }).effects.map(({ type }) => type), ['check'])
  const refused = [...idle, 'pressed', ['refused', { problem: problem('unknown_provider', 'generate') }]]
  assert.deepEqual([after(...refused).view, after(...refused, 'pressed').effects], ['failed', ['generate']])
  const failed = after(...generating, ['polled', { clip: clip('failed', { message: 'busy' }) }])
  assert.deepEqual(failed.state.problem, { code: 'generation_failed', message: 'busy', during: 'generate' })
  const unplayed = [...completed, ['unplayable', { problem: problem('connection_failed', 'play') }]]
  assert.deepEqual([after(...unplayed).view, after(...unplayed, 'pressed').view, after(...unplayed, 'pressed').effects], ['failed', 'completed', ['play c1']])
  // Audio that no longer exists is generated again.
  assert.deepEqual(after(...completed, ['unplayable', { problem: problem('not_found', 'play') }], 'pressed').effects, ['generate'])
})

test('a job that is cancelled before the gateway has answered is deleted when it does, even if the text was changed meanwhile', () => {
  const changed = after('configured', ['found', {}], 'pressed', 'pressed', 'configured')
  const attempt = changed.state.cancelled
  for (const [status, effects] of [['queued', ['delete c1']], ['ready', []]]) {
    const answered = next(changed.state, { type: 'started', attempt, clip: clip(status) })
    assert.equal(answered.state.view, 'checking')
    assert.deepEqual(answered.effects.map(({ type, id }) => `${type} ${id}`), effects)
  }
})

test('a job that is cancelled before the gateway has answered is deleted when it does, even if generating has begun again', () => {
  const again = after(...idle, 'pressed', 'pressed', 'pressed')
  assert.deepEqual([again.view, again.effects], ['generating', ['generate']])
  const attempt = again.state.cancelled
  const answered = next(again.state, { type: 'started', attempt, clip: clip('queued') })
  assert.deepEqual([answered.state.view, answered.effects.map(({ type }) => type)], ['generating', ['delete']])
  // The second request was not sent yet, so that only the first one has a job.
  const { state } = next(again.state, { type: 'pressed' })
  assert.deepEqual([state.view, state.cancelled], ['idle', attempt])
})

test('a job that somebody else has cancelled leaves the button idle', () => {
  assert.equal(after(...generating, ['polled', { clip: { id: 'c1', status: 'cancelled', progress: 0 } }]).view, 'idle')
  assert.equal(after(...generating, ['refused', { problem: problem('not_found', 'generate') }]).view, 'idle')
})

test('nothing happens while the button checks, and another text begins anew in every state', () => {
  assert.deepEqual(after('configured', 'pressed').effects, [])
  for (const state of [idle, generating, completed, [...idle, 'pressed', ['refused', { problem: problem('x', 'generate') }]]]) {
    const { view, effects, state: { clip: known, progress } } = after(...state, 'configured')
    assert.deepEqual([view, effects, known, progress], ['checking', ['check'], null, 0])
  }
})

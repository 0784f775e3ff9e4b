// Consent to logging: the question before a call with an account, and the notice during a logged call.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consentTexts, needsConsent } from '../../../Web/shared/consent.js'
import { Admission } from '../../../Web/widget/model/admission.js'
import { handle, initialState, screenOf } from '../../../Web/widget/model/machine.js'
import { describeConsent, loggedText } from '../../../Web/widget/model/texts.js'

const definition = { id: 'shop', name: 'Robin', language: 'en', startState: 'collapsed', hasOnboarding: false, quickCommands: [] }
const connecting = { ...initialState, isWanted: true, assistant: 'shop', loaded: 'shop', definition, view: 'collapsed' }

/** Returns the state and the last effects after events at second 1, 2, … */
function after(...events) {
  let state = connecting
  let effects = []
  events.forEach(([type, values], index) => ({ state, effects } = handle(state, { type, ...values }, 1000 * (index + 1))))
  return { state, effects }
}

test('the question stops the clock, and the answer goes on with the call', () => {
  const asked = after(['start'], ['consentNeeded'])
  assert.deepEqual([screenOf(asked.state), asked.state.view, asked.state.deadline], ['consent', 'connecting', null])
  for (const isAllowed of [true, false]) {
    const { state, effects } = after(['start'], ['consentNeeded'], ['consentAnswered', { isAllowed }])
    assert.deepEqual([screenOf(state), state.deadline, effects], ['', 33_000, [{ type: 'consent', attempt: 1, isAllowed }]])
  }
})

test('without an answer the call is given up, and an answer after that means nothing', () => {
  const { state, effects } = after(['start'], ['consentNeeded'], ['stop'])
  assert.deepEqual([state.view, effects.map(({ type }) => type)], ['collapsed', ['leave']])
  assert.deepEqual(after(['start'], ['consentNeeded'], ['stop'], ['consentAnswered', { isAllowed: true }]).effects, [])
  assert.deepEqual(after(['start'], ['consentAnswered', { isAllowed: true }]).effects, [])
  assert.equal(screenOf(after(['start'], ['connected', { identity: 'me' }], ['consentNeeded']).state), '')
})

test('a logged call says so in the language of the page', () => {
  const { state } = after(['start'], ['connected', { identity: 'me' }], ['logged', { isLogged: true }])
  assert.equal(loggedText(state), 'Assistant call may be recorded for your summaries.')
  assert.equal(loggedText({ ...state, language: 'fr-CA' }), consentTexts.fr.logged)
  assert.equal(loggedText(handle(state, { type: 'logged', isLogged: false }, 9000).state), '')
})

test('all languages have the same texts, and two answers', () => {
  for (const [language, texts] of Object.entries(consentTexts)) {
    assert.deepEqual(Object.keys(texts), Object.keys(consentTexts.en), language)
    assert.deepEqual([texts.points.length, describeConsent({ ...connecting, language }).actions.map(({ label }) => label)], [3, [texts.allow, texts.deny]], language)
  }
  assert.deepEqual([consentTexts.en.allow, consentTexts.en.deny], ['Allow logging & summaries', 'Don’t allow (voice-only, no history)'])
})

test('who has not answered is asked; a missing setting is no answer', () => {
  assert.deepEqual([{ settings: { has_seen_onboarding: true } }, { settings: { has_seen_onboarding: 'yes' } }, { settings: {} }, {}].map(needsConsent), [false, true, true, true])
})

/** Sets up a page with an account; records its requests. */
function withAccount(context, page = {}, answers = {}) {
  const asked = []
  context.mock.method(globalThis, 'fetch', async (path, { method, headers, body }) => {
    asked.push([method, path, headers.Authorization, body && JSON.parse(body)])
    return new Response(JSON.stringify(answers[path] ?? {}))
  })
  const admission = new Admission(() => ({ url: null, base: '', token: '', tokenProvider: null, accountProvider: async () => 'access', context: '', ...page }))
  return { asked, admission }
}

test('a page with an account asks its user, stores the answer, and starts and ends a session', async (context) => {
  const { asked, admission } = withAccount(context, { context: 'orders' }, {
    '/v1/users/me': { id: 'u1', settings: { has_seen_onboarding: false } },
    '/v1/sessions/start': { session_id: 's', livekit_url: 'wss://g', livekit_token: 't' },
  })
  assert.deepEqual([await admission.needsConsent(), admission.user], [true, 'u1'])
  await admission.answerConsent(false)
  assert.deepEqual(await admission.admit('shop', 'nova'), { url: 'wss://g', token: 't', session: 's' })
  await admission.end('s')
  await admission.end(null)
  assert.deepEqual(asked, [
    ['GET', '/v1/users/me', 'Bearer access', null],
    ['PATCH', '/v1/users/me', 'Bearer access', { settings: { has_seen_onboarding: true, logging_enabled: false } }],
    ['POST', '/v1/sessions/start', 'Bearer access', { context: 'web', assistant_id: 'shop', voice: 'nova', client_context: 'orders' }],
    ['POST', '/v1/sessions/end', 'Bearer access', { session_id: 's' }],
  ])
})

test('a page without an account asks nothing, and an account that gives no token is a problem of the page', async (context) => {
  assert.equal(await withAccount(context, { accountProvider: null }).admission.needsConsent(), false)
  const cases = [[async () => { throw new Error('Log in') }, 'provider_failed'], [async () => '', 'no_token'], [async () => 7, 'no_token']]
  for (const [accountProvider, code] of cases) await assert.rejects(withAccount(context, { accountProvider }).admission.needsConsent(), { kind: 'other', code })
})

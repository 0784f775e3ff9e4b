// Logging in and out, and late responses to the previous user.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { FakeGateway } from '../support/page.js'
import * as calls from '../../../Web/calls/model/commands.js'
import { phone } from '../../../Web/calls/model/phone.js'
import { store as callsStore } from '../../../Web/calls/model/store.js'
import * as sessions from '../../../Web/sessions/model/commands.js'
import { store as sessionsStore } from '../../../Web/sessions/model/store.js'

const userOf = (name) => ({ id: name, email: `${name}@example.org`, settings: { has_seen_onboarding: true } })

/** Everything that the gateway returns to a user names that user. */
const gateway = (answers = {}) => new FakeGateway({
  'POST /v1/auth/token': (_, { email }) => ({ access_token: email.split('@')[0], refresh_token: `${email} refresh` }),
  'POST /v1/auth/logout': {},
  'GET /v1/users/me': userOf,
  'PATCH /v1/users/me': userOf,
  'GET /v1/voices': { voices: [] },
  'GET /v1/sessions': (name) => [{ id: name, title: name }],
  'DELETE /v1/sessions': {},
  'GET /v1/sessions/s': (name) => ({ session: { id: 's', title: name }, summary: null, turns: [] }),
  'GET /v1/sessions/s/recordings': [],
  'GET /v1/contacts': (name) => [{ address: `${name}@example.org` }],
  'PUT /v1/contacts': {},
  'GET /v1/calls/history': (name) => [{ id: name, caller: name, ended_at: '1' }],
  ...answers,
})

const pages = { calls: { commands: calls, store: callsStore }, sessions: { commands: sessions, store: sessionsStore } }
const logIn = (commands, name) => commands.logIn(`${name}@example.org`, 'password')

afterEach(async () => {
  location.hash = ''
  await Promise.all([calls.logOut(), sessions.logOut()])
})

for (const [page, { commands, store }] of Object.entries(pages)) {
  test(`logging out on the page of ${page} revokes the login, and does not wait for the gateway`, async () => {
    const backend = gateway()
    await logIn(commands, 'ann')
    const { running } = await backend.hold('POST /v1/auth/logout', () => commands.logOut())
    assert.equal(store.state.stage, 'login')
    assert.ok(backend.asked.includes('POST /v1/auth/logout'))
    await backend.release()
    await running
    assert.deepEqual(store.state.problems, [])
  })
}

test('the page of calls asks whether conversations are kept before it takes calls, and keeps the answer', async (context) => {
  const opened = context.mock.method(phone, 'open', async () => {})
  let settings = {}
  const backend = gateway({
    'GET /v1/users/me': (name) => ({ ...userOf(name), settings }),
    'PATCH /v1/users/me': (name, change) => ({ ...userOf(name), settings: (settings = change.settings) }),
  })
  await logIn(calls, 'ann')
  assert.deepEqual([callsStore.state.stage, opened.mock.callCount()], ['consent', 0])
  backend.refused.add('PATCH /v1/users/me')
  assert.equal(await calls.answerConsent(false), false)
  assert.deepEqual([callsStore.state.stage, callsStore.state.problems.map(({ key }) => key)], ['consent', ['consent']])
  backend.refused.clear()
  assert.equal(await calls.answerConsent(false), true)
  assert.deepEqual([callsStore.state.stage, callsStore.state.problems, opened.mock.callCount()], ['in', [], 1])
  assert.deepEqual(settings, { has_seen_onboarding: true, logging_enabled: false })
})

test('an address that is not validly encoded shows the list of sessions', async () => {
  gateway()
  await logIn(sessions, 'ann')
  location.hash = '#/sessions/%'
  sessions.followRoute()
  assert.deepEqual(sessionsStore.state.route, { name: 'list', id: null })
})

/** Whether a page shows something of Ann's after a task whose response to `request` arrives when Bob has logged in. */
async function leftOf(page, request, task) {
  const { commands, store } = pages[page]
  const backend = gateway()
  await logIn(commands, 'ann')
  assert.equal(store.state.stage, 'in')
  const { running } = await backend.hold(request, task)
  await commands.logOut()
  backend.held.clear()
  await logIn(commands, 'bob')
  const before = store.state
  await backend.release()
  await running
  assert.equal(store.state.stage, 'in', `${page} ${request}`)
  assert.deepEqual(store.state.problems, before.problems, `${page} ${request}`)
  return /\bann\b/.test(JSON.stringify(store.state))
}

test('late responses to the previous user do not appear on the page of calls', async () => {
  const cases = [
    ['GET /v1/contacts', () => calls.reload()], ['GET /v1/calls/history', () => calls.reload()],
    ['GET /v1/contacts', () => calls.setFavourite('ann@example.org', true)], ['PUT /v1/contacts', () => calls.setFavourite('ann@example.org', true)],
  ]
  for (const [request, task] of cases) assert.equal(await leftOf('calls', request, task), false, request)
})

test('contacts of the previous user are not stored for the next one', async () => {
  const backend = gateway()
  await logIn(calls, 'ann')
  const { running } = await backend.hold('GET /v1/contacts', () => calls.setFavourite('ann@example.org', true))
  await calls.logOut()
  await backend.release()
  await running
  assert.ok(!backend.asked.includes('PUT /v1/contacts'))
})

test('late responses to the previous user do not appear on the page of sessions', async () => {
  const openSession = () => {
    location.hash = '#/sessions/s'
    sessions.followRoute()
  }
  const cases = [
    ['GET /v1/sessions', () => sessions.reload()], ['GET /v1/sessions/s', openSession],
    ['PATCH /v1/users/me', () => sessions.saveSettings({ voice: 'nova' })], ['PATCH /v1/users/me', () => sessions.answerConsent(true)],
  ]
  for (const [request, task] of cases) assert.equal(await leftOf('sessions', request, task), false, request)
  await leftOf('sessions', 'DELETE /v1/sessions', () => sessions.deleteAllSessions())
  assert.equal(sessionsStore.state.list.sessions.length, 1)
})

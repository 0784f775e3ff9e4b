// The button's requests, with a function as the gateway.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'

import { Session } from '../../../Web/audio-button/session.js'
import { describe, tables } from '../../../Web/audio-button/texts.js'
import { tokenOf } from '../../../Web/audio-button/tokens.js'

const original = globalThis.fetch
afterEach(() => (globalThis.fetch = original))

const answer = (status, body) => ({ ok: status < 300, status, headers: new Map(), json: async () => body, text: async () => (body === null ? '' : JSON.stringify(body)) })

/** Returns a session. `respond` answers its requests with `[status, body]`; `until(view)` waits for a state. */
function make(respond, wish = { text: 'Hello' }) {
  const asked = []
  globalThis.fetch = /** @type {any} */ (async (url, { method, headers, body }) => {
    asked.push([method, url, body && JSON.parse(body)])
    return answer(...(await respond(method, url, headers.Authorization)))
  })
  const waiting = []
  const session = new Session(() => ({ base: 'https://g', wish, tokenProvider: async () => 't' }), ({ view }) => waiting.splice(0).forEach((check) => check(view)), () => {})
  const until = (view) => session.state.view === view ? Promise.resolve() : new Promise((resolve) => {
    const check = (now) => (now === view ? resolve() : waiting.push(check))
    waiting.push(check)
  })
  return { session, asked, until }
}

test('a lookup says exactly what is wanted', async () => {
  const wish = { text: 'a & b=c <b>\nمرحبا', voice: 'nova' }
  const { session, asked, until } = make(() => [200, []], wish)
  session.dispatch({ type: 'configured' })
  await until('idle')
  assert.deepEqual(asked, [['POST', 'https://g/v1/speech/lookup', wish]])
})

test('generating again waits until the cancelled job is gone', async () => {
  const order = []
  const { session, until } = make(async (method, url) => {
    if (url.endsWith('/lookup')) return [200, []]
    if (method === 'DELETE') await new Promise((resolve) => setTimeout(resolve, 50))
    order.push(method)
    return method === 'DELETE' ? [204, null] : [202, { id: `c${order.length}`, status: 'queued', progress: 0 }]
  })
  session.dispatch({ type: 'configured' })
  await until('idle')
  session.dispatch({ type: 'pressed' })
  while (!session.state.clip) await new Promise((resolve) => setTimeout(resolve, 1))
  session.dispatch({ type: 'pressed' })
  session.dispatch({ type: 'pressed' })
  assert.equal(session.state.view, 'generating')
  while (!session.state.clip) await new Promise((resolve) => setTimeout(resolve, 1))
  session.stop()
  assert.deepEqual(order, ['POST', 'DELETE', 'POST'])
})

test('a request that was cancelled before its response is answered and its job deleted before the next one', async () => {
  const order = []
  const { session, asked, until } = make(async (method, url) => {
    if (url.endsWith('/lookup')) return [200, []]
    if (method === 'POST') await new Promise((resolve) => setTimeout(resolve, 30))
    order.push(method === 'DELETE' ? `${method} ${url.split('/').at(-1)}` : method)
    return method === 'DELETE' ? [204, null] : [202, { id: `c${order.length}`, status: 'queued', progress: 0 }]
  })
  session.dispatch({ type: 'configured' })
  await until('idle')
  session.dispatch({ type: 'pressed' })
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
  // Cancels, generates and cancels again, of which nothing reaches the gateway, and generates.
  for (let press = 0; press < 4; press++) session.dispatch({ type: 'pressed' })
  assert.equal(session.state.view, 'generating')
  while (!session.state.clip) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.deepEqual(order, ['POST', 'DELETE c1', 'POST'])
  assert.equal(session.state.clip.id, 'c3')
  session.stop()
})

test('the job of a button that is removed after a cancellation is deleted', async () => {
  const { session, asked, until } = make(async (method, url) => {
    if (url.endsWith('/lookup')) return [200, []]
    await new Promise((resolve) => setTimeout(resolve, 10))
    return method === 'DELETE' ? [204, null] : [202, { id: 'c1', status: 'queued', progress: 0 }]
  })
  session.dispatch({ type: 'configured' })
  await until('idle')
  session.dispatch({ type: 'pressed' })
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
  session.dispatch({ type: 'pressed' })
  session.stop()
  await new Promise((resolve) => setTimeout(resolve, 40))
  assert.deepEqual(asked.at(-1).slice(0, 2), ['DELETE', 'https://g/v1/speech/c1'])
})

test('a job goes on while the gateway has too many requests', async () => {
  let polls = 0
  const { session, until } = make((method, url) => {
    if (url.endsWith('/lookup')) return [200, []]
    if (method === 'POST') return [202, { id: 'c1', status: 'queued', progress: 0 }]
    return ++polls === 1 ? [429, { code: 'too_many_requests' }] : [200, { id: 'c1', status: 'ready', progress: 100 }]
  })
  session.dispatch({ type: 'configured' })
  await until('idle')
  session.dispatch({ type: 'pressed' })
  await until('completed')
  assert.equal(polls, 2)
})

test('without a text nothing is asked', async () => {
  const { session, asked, until } = make(() => [200, []], { text: '' })
  session.dispatch({ type: 'configured' })
  await until('failed')
  assert.deepEqual([session.state.problem.code, asked], ['no_text', []])
})

test('an expired token is replaced once, for all buttons together', async () => {
  const wishes = []
  const provider = async ({ rejected }) => (wishes.push(rejected), `token ${wishes.length}`)
  assert.deepEqual(await Promise.all([tokenOf(provider), tokenOf(provider)]), ['token 1', 'token 1'])
  assert.deepEqual(await Promise.all([tokenOf(provider, 'token 1'), tokenOf(provider, 'token 1')]), ['token 2', 'token 2'])
  assert.equal(await tokenOf(provider, 'token 1'), 'token 2')
  assert.equal(await tokenOf(provider, 'token 2'), 'token 3')
  assert.deepEqual(wishes, [null, 'token 1', 'token 2'])
})

test('after another user has logged in, buttons act as that user', async (context) => {
  let now = 5000
  context.mock.method(performance, 'now', () => now)
  let user = 'ann'
  let calls = 0
  const provider = async () => (calls++, `token of ${user}`)
  assert.equal(await tokenOf(provider), 'token of ann')
  user = 'bob'
  now += 999
  assert.equal(await tokenOf(provider), 'token of ann')
  now += 1
  assert.deepEqual(await Promise.all([tokenOf(provider), tokenOf(provider)]), ['token of bob', 'token of bob'])
  assert.equal(calls, 2)
})

test('a request is shared while it is pending, and a token that is refused later is named to the provider', async (context) => {
  let now = 5000
  context.mock.method(performance, 'now', () => now)
  const rejections = []
  let respond = (_token) => {}
  const provider = ({ rejected }) => (rejections.push(rejected), new Promise((resolve) => (respond = resolve)))
  const first = tokenOf(provider)
  now += 60_000
  const second = tokenOf(provider)
  await Promise.resolve()
  respond('token 1')
  assert.deepEqual(await Promise.all([first, second]), ['token 1', 'token 1'])
  now += 60_000
  const third = tokenOf(provider, 'token 1')
  await Promise.resolve()
  respond('token 2')
  assert.equal(await third, 'token 2')
  assert.deepEqual(rejections, [null, 'token 1'])
})

test('a provider without a token is a problem, and is asked again', async () => {
  await assert.rejects(tokenOf(null), { code: 'no_token' })
  for (const bad of [async () => '', async () => ({}), async () => { throw new Error('closed') }, () => 7]) {
    await assert.rejects(tokenOf(bad), { code: 'provider_failed' })
  }
  let calls = 0
  const later = async () => (++calls > 1 ? 'token' : null)
  await assert.rejects(tokenOf(later))
  assert.equal(await tokenOf(later), 'token')
})

test('every language has the same texts', () => {
  const keys = (value) => Object.entries(value).flatMap(([key, inner]) => (typeof inner === 'object' ? keys(inner).map((one) => `${key}.${one}`) : [key]))
  for (const [language, table] of Object.entries(tables)) assert.deepEqual(keys(table), keys(tables.en), language)
  assert.deepEqual(describe({ code: 'unknown_provider', message: 'provider must be' }, tables.en), { title: 'Failed', text: 'Provider not configured' })
  assert.equal(describe({ code: 'token_expired', message: '' }, tables.en).text, tables.en.problems.unauthorized)
  assert.equal(describe({ code: 'generation_failed', message: 'busy' }, tables.en).text, 'busy')
  assert.equal(describe({ code: 'constructor', message: '' }, tables.en).text, 'The audio could not be generated.')
})

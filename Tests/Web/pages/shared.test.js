// What pages share: the store, and requests to the gateway.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { describeAssistant, developmentSession, listVoices } from '../../../Web/shared/gateway.js'
import { GatewayError, nextPage, request, send } from '../../../Web/shared/http.js'
import { Store } from '../../../Web/shared/store.js'

/** Runs `task` with a gateway that answers `status` and `body`; returns what it was asked. */
async function withAnswer(status, body, task, headers = {}) {
  const fetched = mock.method(globalThis, 'fetch', async () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }))
  try {
    await task()
  } finally {
    fetched.mock.restore()
  }
  return fetched.mock.calls[0].arguments
}

const link = (value) => nextPage(new Response('', { headers: value === null ? {} : { Link: value } }))

test('actions of listeners are applied after all listeners have seen this one', () => {
  const store = new Store([], (state, { type }) => [...state, type])
  const seen = []
  store.subscribe((state) => {
    seen.push(`first ${state.length}`)
    if (state.length === 1) store.dispatch('b')
  })
  store.subscribe((state) => seen.push(`second ${state.length}`))
  store.dispatch('a')
  assert.deepEqual(seen, ['first 1', 'second 1', 'first 2', 'second 2'])
})

test('a listener that throws does not block the store', () => {
  const store = new Store(0, (state) => state + 1)
  const stop = store.subscribe(() => { throw new Error('a view failed') })
  assert.throws(() => store.dispatch('a'))
  stop()
  store.dispatch('b')
  assert.equal(store.state, 2)
})

test('an action that changes nothing is not told', () => {
  const store = new Store('x', (state) => state)
  store.subscribe(() => assert.fail('told'))
  store.dispatch('a')
})

test('a request carries token and body', async () => {
  const [url, { method, headers, body }] = await withAnswer(200, {}, () => send('PUT', '/v1/x', { token: 't', body: { a: 1 }, base: 'https://gateway.example' }))
  assert.deepEqual([url, method, headers, body], [
    'https://gateway.example/v1/x', 'PUT', { Accept: 'application/json', 'Content-Type': 'application/json', Authorization: 'Bearer t' }, '{"a":1}',
  ])
})

test('a refusal says why, and when to try again', async () => {
  const refused = { code: 'too_many_attempts', message: 'wait' }
  await withAnswer(429, refused, () => assert.rejects(request('GET', '/'), { ...refused, status: 429, retryAfter: 30 }), { 'Retry-After': '30' })
  await withAnswer(503, '<html>', () => assert.rejects(request('GET', '/'), { code: 'http_503', status: 503, retryAfter: null }), { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' })
})

test('an answer that is no JSON is told apart from none', async () => {
  await withAnswer(200, '<html>', () => assert.rejects(send('GET', '/'), { code: 'bad_response' }))
  await withAnswer(200, '', async () => assert.deepEqual(await send('GET', '/'), {}))
})

test('a gateway that cannot be reached is an error of its own', async () => {
  const fetched = mock.method(globalThis, 'fetch', async () => { throw new TypeError('Failed to fetch') })
  await assert.rejects(request('GET', '/'), (error) => error instanceof GatewayError && error.code === 'connection_failed')
  fetched.mock.restore()
})

test('the next page is in the link of this one', () => {
  assert.equal(link('</v1/sessions?page=2>; rel="next"'), '/v1/sessions?page=2')
  assert.equal(link('</a>; rel="prev", </b>;rel="next"'), '/b')
  assert.equal(link('</a>; rel="prev"'), null)
  assert.equal(link(null), null)
})

test('a gateway without development sessions has none; other errors are told', async () => {
  for (const status of [403, 404]) await withAnswer(status, {}, async () => assert.equal(await developmentSession(), null))
  await withAnswer(404, { code: 'assistant_not_found' }, () => assert.rejects(developmentSession('shop'), { code: 'assistant_not_found' }))
  await withAnswer(500, {}, () => assert.rejects(developmentSession(), { status: 500 }))
})

test('ids are escaped in addresses', async () => {
  assert.equal((await withAnswer(200, {}, () => describeAssistant('a/b?c', 'https://g.example')))[0], 'https://g.example/v1/assistants/a%2Fb%3Fc')
  assert.equal((await withAnswer(200, {}, () => developmentSession('a&b')))[0], '/v1/dev/session?assistant=a%26b')
  assert.equal((await withAnswer(200, {}, () => developmentSession('shop', undefined, 'nova')))[0], '/v1/dev/session?assistant=shop&voice=nova')
  await withAnswer(200, {}, async () => assert.deepEqual(await listVoices(), []))
})

// A user's tokens: renewed when they have expired, once for all requests, and forgotten when they are worth nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Account, authenticate } from '../../../Web/shared/account.js'

/** A gateway that takes the access token `good`, and renews with the refresh token `refresh`. */
class Gateway {
  asked = []
  refresh = 'refresh'
  good = 'access-1'

  constructor(context) {
    context.mock.method(globalThis, 'fetch', async (path, { headers, body }) => {
      this.asked.push(path)
      const answer = (status, content) => new Response(JSON.stringify(content), { status })
      if (path === '/v1/auth/refresh') {
        if (JSON.parse(body).refresh_token !== this.refresh) return answer(401, { code: 'invalid_refresh_token' })
        this.refresh += '+'
        return answer(200, { access_token: this.good, refresh_token: this.refresh })
      }
      if (path === '/v1/auth/token') return answer(404, {})
      return headers.Authorization === `Bearer ${this.good}` ? answer(200, { path }) : answer(401, { code: 'token_expired' })
    })
  }

  get refreshes() {
    return this.asked.filter((path) => path === '/v1/auth/refresh').length
  }
}

test('an expired token is renewed, and the request repeated', async (context) => {
  const gateway = new Gateway(context)
  const account = new Account({ access_token: 'old', refresh_token: 'refresh' })
  assert.deepEqual(await account.send('GET', '/v1/users/me'), { path: '/v1/users/me' })
  gateway.good = 'access-2'
  await account.send('GET', '/v1/users/me')
  // With the token that the first renewal gave.
  assert.equal(gateway.refreshes, 2)
})

test('requests at the same time renew once, because a refresh token is valid once', async (context) => {
  const gateway = new Gateway(context)
  const account = new Account({ access_token: 'old', refresh_token: 'refresh' })
  await Promise.all(['/a', '/b', '/c'].map((path) => account.send('GET', path)))
  assert.equal(gateway.refreshes, 1)
})

test('without an access token, the first request gets one', async (context) => {
  const gateway = new Gateway(context)
  await new Account({ refresh_token: 'refresh' }).send('GET', '/a')
  assert.deepEqual(gateway.asked, ['/v1/auth/refresh', '/a'])
})

test('a login that was revoked is forgotten', async (context) => {
  new Gateway(context)
  const account = new Account({ access_token: 'old', refresh_token: 'stolen' })
  await assert.rejects(account.send('GET', '/a'), { status: 401 })
  await assert.rejects(account.send('GET', '/a'), { code: 'logged_out', status: 401 })
})

test('a gateway without accounts says so', async (context) => {
  new Gateway(context)
  await assert.rejects(authenticate('ann@example.org', 'x'), { code: 'accounts_unavailable' })
})

test('tokens that replace others during a renewal stay, and a login that ends during one stays ended', async (context) => {
  const answers = { 401: { code: 'invalid_refresh_token' }, 200: { access_token: 'late', refresh_token: 'late' } }
  for (const status of [401, 200]) {
    let answer = () => {}
    context.mock.method(globalThis, 'fetch', (path, { headers }) => (path === '/v1/auth/refresh'
      ? new Promise((resolve) => (answer = () => resolve(new Response(JSON.stringify(answers[status]), { status }))))
      : Promise.resolve(new Response(JSON.stringify({ token: headers.Authorization })))))
    const account = new Account({ access_token: 'old', refresh_token: 'old' })
    const token = account.token({ isRefused: true })
    account.adopt({ access_token: 'new', refresh_token: 'new' })
    answer()
    assert.equal(await token, 'new')
    assert.deepEqual(await account.send('GET', '/a'), { token: 'Bearer new' })
    const late = account.token({ isRefused: true })
    account.forget()
    answer()
    await assert.rejects(late, { code: 'logged_out' })
    await assert.rejects(account.send('GET', '/a'), { code: 'logged_out', status: 401 })
  }
})

test('a connection that is refused while the password changes waits for the new tokens', async (context) => {
  const gateway = new Gateway(context)
  const account = new Account({ access_token: 'old', refresh_token: 'revoked' })
  let respond = (_tokens) => {}
  const changing = account.replace(new Promise((resolve) => (respond = resolve)))
  const token = account.token({ isRefused: true })
  respond({ access_token: 'access-1', refresh_token: 'refresh' })
  await changing
  assert.deepEqual([await token, gateway.refreshes], ['access-1', 0])
  // A change that is refused leaves the tokens.
  await assert.rejects(account.replace(Promise.reject(new Error('wrong'))), { message: 'wrong' })
  assert.equal(await account.token(), 'access-1')
})

// Access tokens of users, from the page. Buttons with the same provider share a request, so that a list requests its token only once.

import { GatewayError } from '../shared/http.js'

// How long a token is shared after its request. The page keeps tokens, and another user may log in at any time.
const SHARED_MS = 1000

// The last request of each provider: `{token, rejected, until}`. `token` is a promise, `until` infinite while it is pending.
const requests = new WeakMap()

/** Returns a token of the provider, other than `rejected`. Throws a `GatewayError`. */
export async function tokenOf(provider, rejected = null) {
  if (typeof provider !== 'function') throw new GatewayError('no_token', 'The page has set no tokenProvider.')
  const token = await (shared(provider) ?? ask(provider, rejected)).token
  return token === rejected ? ask(provider, rejected).token : token
}

/** The provider's last request, while others may use its token. */
function shared(provider) {
  const last = requests.get(provider)
  return last && performance.now() < last.until ? last : null
}

/** Requests one token at a time, even if several buttons were refused together. */
function ask(provider, rejected) {
  const last = shared(provider)
  if (last?.rejected === rejected && rejected !== null) return last
  const request = { rejected, until: Infinity, token: Promise.resolve().then(() => provider({ rejected })).then(checked).catch(fail) }
  request.token.then(() => (request.until = performance.now() + SHARED_MS), () => (request.until = 0))
  requests.set(provider, request)
  return request
}

function checked(token) {
  if (typeof token !== 'string' || !token) throw new Error('the token provider returned no token')
  return token
}

function fail(error) {
  if (error instanceof GatewayError) throw error
  throw new GatewayError('provider_failed', error?.message ?? '')
}

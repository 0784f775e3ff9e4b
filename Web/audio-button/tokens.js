// Access tokens of users, from the page. Buttons with the same provider share one token, so that a list requests it only once.

import { GatewayError } from '../shared/http.js'

const known = new WeakMap()

/** Returns a token of the provider, other than `rejected`. Throws a `GatewayError`. */
export async function tokenOf(provider, rejected = null) {
  if (typeof provider !== 'function') throw new GatewayError('no_token', 'The page has set no tokenProvider.')
  const token = await (known.get(provider) ?? ask(provider, null))
  return token === rejected ? ask(provider, rejected) : token
}

/** Requests one token at a time, even if several buttons were refused together. */
function ask(provider, rejected) {
  const earlier = known.get(provider)
  if (earlier?.rejected === rejected && rejected !== null) return earlier
  const asked = Promise.resolve()
    .then(() => provider({ rejected }))
    .then((token) => {
      if (typeof token !== 'string' || !token) throw new Error('the token provider returned no token')
      return token
    })
    .catch((error) => {
      if (known.get(provider) === asked) known.delete(provider)
      if (error instanceof GatewayError) throw error
      throw new GatewayError('provider_failed', error?.message ?? '')
    })
  known.set(provider, Object.assign(asked, { rejected }))
  return asked
}

// Tokens for administration. A token is for one room, or for the gateway as a whole, so the page needs several: pasted, minted with a key, or
// from `serve --dev`.
//
// All are kept in memory only: they are gone when the page is closed or loaded again.

import { GatewayError, send } from '../../shared/http.js'

const TOKEN_SECONDS = 600
// Tokens are replaced this long before they expire, because clocks differ.
const EARLY_SECONDS = 60

/** Used in place of a room, for operations of the whole gateway. They require more grants than the list of rooms (null). */
export const OPERATIONS = Symbol('operations')

const now = () => Math.floor(Date.now() / 1000)

/** Tokens that `make` creates for a room, or for the whole gateway if the room is null. Each is used until shortly before it expires. */
class MadeTokens {
  #known = new Map()
  #make

  constructor(make) {
    this.#make = make
  }

  async token(place = null) {
    const room = place === OPERATIONS ? null : place
    const known = this.#known.get(room)
    if (known && known.expires - EARLY_SECONDS > now()) return known.token
    const made = await this.#make(room)
    this.#known.set(room, made)
    return made.token
  }

  /** After a refusal: the gateway has other keys now, or another clock. */
  forget() {
    this.#known.clear()
  }
}

/** `serve --dev` gives tokens to its own pages. Null if this gateway does not. */
export async function developmentAccess() {
  const make = async (room) => {
    const { token, expires_in } = await send('GET', `/v1/dev/administrator${room === null ? '' : `?room=${encodeURIComponent(room)}`}`)
    return { token, expires: now() + expires_in }
  }
  const access = new MadeTokens(make)
  try {
    await access.token()
    return access
  } catch (error) {
    if (error.status === 404 || error.status === 403) return null
    throw error
  }
}

/**
 * Tokens that the page signs itself. The secret is imported as a key that scripts cannot read again, and is not kept.
 *
 * Only over HTTPS or on this machine: elsewhere browsers have no `crypto.subtle`.
 */
export async function keyAccess(issuer, secret) {
  if (!globalThis.crypto?.subtle) throw new GatewayError('insecure', 'This browser signs only on pages that were loaded over HTTPS.')
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new MadeTokens(async (room) => {
    const expires = now() + TOKEN_SECONDS
    const video = { roomList: true, ...(room === null ? { roomCreate: true } : { roomAdmin: true, room }) }
    const head = [{ alg: 'HS256', typ: 'JWT' }, { iss: issuer, nbf: now() - EARLY_SECONDS, exp: expires, video }].map((part) => encode(new TextEncoder().encode(JSON.stringify(part)))).join('.')
    const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(head))
    return { token: `${head}.${encode(new Uint8Array(signature))}`, expires }
  })
}

const encode = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Pasted tokens. More can be added: one for each room that is to be administered. */
export class PastedTokens {
  #tokens = []

  /** Throws if this is no token, has expired, or administers nothing. The gateway checks the signature. */
  add(token) {
    const claims = readClaims(token)
    if (!claims) throw new GatewayError('malformed_token', 'This is not a token.')
    if (claims.exp <= now()) throw new GatewayError('token_expired', 'This token has expired.')
    const { video = {} } = claims
    if (!video.roomList && !(video.roomAdmin && video.room)) throw new GatewayError('missing_grant', 'This token has neither roomList nor roomAdmin.')
    this.#tokens.push({ token, video, expires: claims.exp })
    return video
  }

  async token(room = null) {
    const valid = this.#tokens.filter(({ expires }) => expires > now())
    const found = valid.find(({ video }) => {
      if (room === OPERATIONS) return video.roomList && video.roomCreate && !video.roomJoin
      return room === null ? video.roomList : video.roomAdmin && video.room === room
    })
    if (found) return found.token
    if (this.#tokens.length > 0 && valid.length === 0) throw new GatewayError('token_expired', 'The token has expired.', { status: 401 })
    throw new GatewayError('no_token', 'No token for this.', { status: 403 })
  }

  /** Pasted tokens are as they are. */
  forget() {}
}

/** A token's claims, not verified; null if it is none. */
function readClaims(token) {
  try {
    const [, body] = token.match(/^[\w-]+\.([\w-]+)\.[\w-]+$/)
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))))
  } catch {
    return null
  }
}

// What the gateway's HTTP API offers pages without an account (docs/protocol/http-api.md).
//
// `base` is another gateway's origin; without it, the gateway that served the page is meant.

import { send } from './http.js'

/** `{url, token, room, identity, assistant?}` of `serve --dev`, or null if this gateway or this address offers no calls without login. */
export async function developmentSession(assistant, base, voice) {
  const choices = Object.entries({ assistant, voice }).filter(([, value]) => value)
  const query = choices.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  try {
    return await send('GET', `/v1/dev/session${query && `?${query}`}`, { base })
  } catch (error) {
    const isUnavailable = error.code !== 'assistant_not_found' && (error.status === 404 || error.status === 403)
    if (isUnavailable) return null
    throw error
  }
}

/** Returns the assistants of `serve --dev`: `[{id, name, voice, language, connected}]`. */
export const developmentAssistants = async () => (await send('GET', '/v1/dev/assistants')).assistants ?? []

/** `[{id, name}]`; empty if there are none. */
export async function listVoices(base) {
  const { voices } = await send('GET', '/v1/voices', { base })
  return voices ?? []
}

/** What clients may see of an assistant: `{id, name, voice, language, …}`. */
export const describeAssistant = (id, base) => send('GET', `/v1/assistants/${encodeURIComponent(id)}`, { base })

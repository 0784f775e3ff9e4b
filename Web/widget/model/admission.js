// How a conversation is admitted: with a token of the page, with a session of the user's account, or by a gateway in development.

import { consentChange, needsConsent } from '../../shared/consent.js'
import { developmentSession } from '../../shared/gateway.js'
import { GatewayError, send } from '../../shared/http.js'

export class Admission {
  #page

  /** `page()` as in `Session`. */
  constructor(page) {
    this.#page = page
  }

  /** Whether the user has still to say whether conversations are kept. Pages without accounts decide that themselves. */
  async needsConsent() {
    return this.#page().accountProvider ? needsConsent(await this.#ask('GET', '/v1/users/me')) : false
  }

  async answerConsent(isAllowed) {
    await this.#ask('PATCH', '/v1/users/me', consentChange(isAllowed))
  }

  /** Where to connect with which token, `{url, token, session?}`. `session`: one that was started for this conversation. */
  async admit(assistant, voice) {
    const { url, base, token, tokenProvider, accountProvider, context } = this.#page()
    if (typeof tokenProvider === 'function') {
      const request = { assistant, voice }
      const given = await provided(() => tokenProvider(context ? { ...request, clientContext: context } : request))
      const admission = typeof given === 'string' ? { token: given } : given
      if (typeof admission?.token !== 'string' || !admission.token) throw { kind: 'other', code: 'no_token', message: '' }
      return { url: admission.url ?? url, token: admission.token }
    }
    if (token) return { url, token }
    if (accountProvider) return this.#startSession(assistant, context)
    const session = await developmentSession(assistant, base, voice)
    if (!session) throw Object.assign(new GatewayError('no_token', ''), { kind: 'other' })
    return session
  }

  /** The conversation is over: its summary can be made. */
  async end(session) {
    // If that fails, the session ends with its room.
    if (session) await this.#ask('POST', '/v1/sessions/end', { session_id: session }).catch(() => {})
  }

  async #startSession(assistant, context) {
    const started = await this.#ask('POST', '/v1/sessions/start', { context: 'web', assistant_id: assistant, ...(context && { client_context: context }) })
    return { url: started.livekit_url, token: started.livekit_token, session: started.session_id }
  }

  async #ask(method, path, body = null) {
    const { base, accountProvider } = this.#page()
    const token = await provided(() => accountProvider())
    if (typeof token !== 'string' || !token) throw { kind: 'other', code: 'no_token', message: '' }
    return send(method, path, { base, token, body })
  }
}

/** What a function of the page returns; what it throws is shown to the user. */
async function provided(provider) {
  try {
    return await provider()
  } catch (error) {
    throw { kind: 'other', code: 'provider_failed', message: String(error?.message ?? '') }
  }
}

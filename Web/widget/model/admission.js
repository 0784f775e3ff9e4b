// The admission to a conversation: with a token of the page, with a session of the user's account, or by a gateway in development.

import { consentChange, needsConsent } from '../../shared/consent.js'
import { developmentSession } from '../../shared/gateway.js'
import { GatewayError, send } from '../../shared/http.js'

export class Admission {
  /** The id of the account that was asked for consent last; empty without one. */
  user = ''
  #page

  /** `page()`: see `Session`. */
  constructor(page) {
    this.#page = page
  }

  /** Whether to ask the user whether conversations are kept. Pages without accounts decide this themselves. */
  async needsConsent() {
    this.user = ''
    if (!this.#page().accountProvider) return false
    const user = await this.#ask('GET', '/v1/users/me')
    this.user = user.id ?? ''
    return needsConsent(user)
  }

  async answerConsent(isAllowed) {
    await this.#ask('PATCH', '/v1/users/me', consentChange(isAllowed))
  }

  /** Returns the address and the token to connect with, `{url, token, session?}`. `session`: the one started for this conversation. */
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
    if (accountProvider) return this.#startSession(assistant, voice, context)
    const session = await developmentSession(assistant, base, voice)
    if (!session) throw Object.assign(new GatewayError('no_token', ''), { kind: 'other' })
    return session
  }

  /** Ends the session after the conversation, so that its summary can be generated. */
  async end(session) {
    // If this fails, the session ends with its room.
    if (session) await this.#ask('POST', '/v1/sessions/end', { session_id: session }).catch(() => {})
  }

  async #startSession(assistant, voice, context) {
    const request = { context: 'web', assistant_id: assistant, ...(voice && { voice }), ...(context && { client_context: context }) }
    const started = await this.#ask('POST', '/v1/sessions/start', request)
    return { url: started.livekit_url, token: started.livekit_token, session: started.session_id }
  }

  async #ask(method, path, body = null) {
    const { base, accountProvider } = this.#page()
    const token = await provided(() => accountProvider())
    if (typeof token !== 'string' || !token) throw { kind: 'other', code: 'no_token', message: '' }
    return send(method, path, { base, token, body })
  }
}

/** Calls a function of the page and returns its result. Its errors are shown to the user. */
async function provided(provider) {
  try {
    return await provider()
  } catch (error) {
    throw { kind: 'other', code: 'provider_failed', message: String(error?.message ?? '') }
  }
}

// A user of the playground: settings, available assistants, and the sessions of calls.

import { consentChange } from '../../shared/consent.js'
import { SessionAccount } from '../../shared/session-account.js'

export class Caller extends SessionAccount {
  /** Returns `{email, settings}`. */
  user() {
    return this.send('GET', '/v1/users/me')
  }

  /** Returns `[{id, name, voice, language, connected}]`. */
  async assistants() {
    return (await this.send('GET', '/v1/users/me/assistants')).assistants ?? []
  }

  setVoice(voice) {
    return this.send('PATCH', '/v1/users/me', { settings: { voice } })
  }

  /** Stores the answer and returns the user. */
  answerConsent(isAllowed) {
    return this.send('PATCH', '/v1/users/me', consentChange(isAllowed))
  }

  async startSession(assistant) {
    const session = await this.send('POST', '/v1/sessions/start', { context: 'web', assistant_id: assistant })
    return { url: session.livekit_url, token: session.livekit_token, session: session.session_id }
  }

  endSession(session) {
    return this.send('POST', '/v1/sessions/end', { session_id: session })
  }

  /** Returns the stored data of a session: `{session, summary, turns}`. */
  session(id) {
    return this.send('GET', `/v1/sessions/${encodeURIComponent(id)}`)
  }
}

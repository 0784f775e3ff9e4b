// A user of the playground: its settings, the assistants to choose from, and the sessions of its calls.

import { consentChange } from '../../shared/consent.js'
import { SessionAccount } from '../../shared/session-account.js'

export class Caller extends SessionAccount {
  /** `{email, settings}`. */
  user() {
    return this.send('GET', '/v1/users/me')
  }

  /** `[{id, name, voice, language, connected}]`. */
  async assistants() {
    return (await this.send('GET', '/v1/users/me/assistants')).assistants ?? []
  }

  setVoice(voice) {
    return this.send('PATCH', '/v1/users/me', { settings: { voice } })
  }

  /** Returns the user. */
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

  /** What is stored of a session: `{session, summary, turns}`. */
  session(id) {
    return this.send('GET', `/v1/sessions/${encodeURIComponent(id)}`)
  }
}

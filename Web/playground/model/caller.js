// A user of the playground: the voice of its settings, and the sessions of its calls.

import { Account } from '../../shared/account.js'

export class Caller extends Account {
  /** The voice of the user's settings, or an empty text. */
  async voice() {
    return (await this.send('GET', '/v1/users/me')).settings?.voice ?? ''
  }

  setVoice(voice) {
    return this.send('PATCH', '/v1/users/me', { settings: { voice } })
  }

  async startSession(assistant) {
    const session = await this.send('POST', '/v1/sessions/start', { context: 'web', assistant_id: assistant })
    return { url: session.livekit_url, token: session.livekit_token, session: session.session_id }
  }

  endSession(session) {
    return this.send('POST', '/v1/sessions/end', { session_id: session })
  }
}

// Announces calls by sound and to screen readers: ringing, and changes of the shown call.

import { announce } from '../../shared/announce.js'
import { nameOf, titleOf } from '../model/people.js'
import { Ringer } from '../model/ringer.js'
import { joined, ringing, shownCall } from '../model/state.js'
import { View, statusOf } from './view.js'

class CallAnnouncer extends View {
  #ringer = new Ringer()
  #said = ''

  update(state, previous) {
    const [incoming] = ringing(state)
    const calling = joined(state).find((call) => call.state === 'connecting' && call.status === 'ringing')
    // A second call does not ring audibly while the user talks.
    const isTalking = joined(state).some((call) => call.state === 'active')
    this.#ringer.ring(incoming && !isTalking ? 'incoming' : calling ? 'outgoing' : null, incoming ? nameOf(incoming.caller, state) : '')
    const call = shownCall(state)
    if (!call) return void (this.#said = '')
    const said = `${titleOf(call, state)}: ${statusOf(call, state.audio[call.id]).text}`
    if (said !== this.#said) announce(said)
    this.#said = said
    const before = previous && shownCall(previous)
    if (before && before.id === call.id && before.mutedByUs !== call.mutedByUs) announce(call.mutedByUs ? 'Muted' : 'Unmuted')
  }
}

customElements.define('call-announcer', CallAnnouncer)

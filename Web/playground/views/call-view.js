// The call: conversation on the left, what lies behind it on the right; one below the other on phones.

import { isInCall } from '../model/state.js'
import './call-controls.js'
import './device-panel.js'
import './event-log.js'
import './message-form.js'
import './network-panel.js'
import './transcript-view.js'
import './voice-wave.js'
import { View, h, panel } from './view.js'

class CallView extends View {
  #heading = h('h2', { tabindex: -1, class: 'visually-hidden', text: 'Call' })

  build() {
    const wide = matchMedia('(min-width: 900px)').matches
    this.append(
      h('div', { class: 'conversation' },
        this.#heading,
        h('div', { class: 'waves' }, h('voice-wave', { side: 'local' }), h('voice-wave', { side: 'agent' })),
        h('transcript-view'),
        h('div', { class: 'dock' }, h('message-form'), h('call-controls'))),
      h('aside', { class: 'panels', 'aria-label': 'Details of the call' },
        panel('Network', { isOpen: true }, h('network-panel')),
        panel('Events', { isOpen: wide }, h('event-log')),
        panel('Devices and recording', {}, h('device-panel'))))
  }

  update(state, previous) {
    this.hidden = state.stage !== 'call'
    this.toggleAttribute('data-over', !isInCall(state))
    if (previous && state.stage === 'call' && previous.stage !== 'call') this.#heading.focus()
  }
}

customElements.define('call-view', CallView)

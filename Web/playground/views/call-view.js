// The call: conversation on the left, what lies behind it on the right; one below the other on phones.

import { consentTexts } from '../../shared/consent.js'
import { language, texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import './after-call.js'
import './call-controls.js'
import './device-panel.js'
import './event-log.js'
import './message-form.js'
import './network-panel.js'
import './transcript-view.js'
import './turn-panel.js'
import './voice-wave.js'
import { View, h, panel } from './view.js'

class CallView extends View {
  #heading = h('h2', { tabindex: -1, class: 'visually-hidden', text: texts.call.name })
  #logged = h('p', { class: 'hint logged', text: consentTexts[language].logged })

  build() {
    const wide = matchMedia('(min-width: 900px)').matches
    this.append(
      h('div', { class: 'conversation' },
        this.#heading,
        h('div', { class: 'waves' }, h('voice-wave', { side: 'local' }), h('voice-wave', { side: 'agent' })),
        this.#logged,
        h('after-call'),
        h('transcript-view'),
        h('div', { class: 'dock' }, h('message-form'), h('call-controls'))),
      h('aside', { class: 'panels', 'aria-label': texts.call.details },
        panel(texts.panels.turns, { isOpen: true }, h('turn-panel')),
        panel(texts.panels.network, { isOpen: wide }, h('network-panel')),
        panel(texts.panels.events, { isOpen: wide }, h('event-log')),
        panel(texts.panels.devices, {}, h('device-panel'))))
  }

  update(state, previous) {
    this.hidden = state.stage !== 'call'
    this.toggleAttribute('data-over', !isInCall(state))
    this.#logged.hidden = !state.isLogged || !isInCall(state)
    if (previous && state.stage === 'call' && previous.stage !== 'call') this.#heading.focus()
  }
}

customElements.define('call-view', CallView)

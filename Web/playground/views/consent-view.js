// The question whether conversations are kept, before the first call with an account. The call starts after the answer.

import { ConsentCard } from '../../shared/consent-card.js'
import { answerConsent, leaveConsent } from '../model/commands.js'
import { language, texts } from '../model/language.js'
import { View, h } from './view.js'

class ConsentView extends View {
  #card = new ConsentCard(answerConsent, {
    language, others: [h('button', { type: 'button', class: 'link', text: texts.start.back, onclick: leaveConsent })],
  })

  build() {
    this.append(this.#card.element)
  }

  update({ stage }, previous) {
    this.hidden = stage !== 'consent'
    if (stage === 'consent' && previous && previous.stage !== 'consent') this.#card.focus()
  }
}

customElements.define('consent-view', ConsentView)

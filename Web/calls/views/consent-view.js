// The question whether conversations are kept, after the first login: assistants can be called from this page, too.

import { ConsentCard } from '../../shared/consent-card.js'
import { answerConsent } from '../model/commands.js'
import { View, h } from './view.js'

class ConsentView extends View {
  #card = new ConsentCard(answerConsent, { others: [h('problem-list', { keys: 'consent' })] })

  build() {
    this.append(this.#card.element)
  }

  update({ stage, isBusy }, previous) {
    this.hidden = stage !== 'consent'
    this.#card.update(isBusy)
    if (stage === 'consent' && previous && previous.stage !== 'consent') this.#card.focus()
  }
}

customElements.define('consent-view', ConsentView)

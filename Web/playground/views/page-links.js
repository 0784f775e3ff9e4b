// Links to the gateway's other pages. They are hidden during a call, which an accidental click would end.

import { siteLinks } from '../../shared/site-links.js'
import { texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import { View } from './view.js'

class PageLinks extends View {
  build() {
    const { name, ...labels } = texts.pages
    this.append(siteLinks('playground', { name, labels }))
  }

  update(state) {
    this.hidden = isInCall(state)
  }
}

customElements.define('page-links', PageLinks)

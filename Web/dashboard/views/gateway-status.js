// In the header: whether the figures are live, and which gateway this is.

import { endAccess } from '../model/commands.js'
import { shownNode } from '../model/nodes.js'
import { history } from '../model/store.js'
import { View, h, setText } from './view.js'

const states = {
  waiting: ['busy', 'Connecting'], live: ['good', 'Live'], hidden: ['warning', 'No metrics here'], unreachable: ['danger', 'Not reachable'], ended: ['danger', 'Not running'],
}

class GatewayStatus extends View {
  #pill = h('span', { class: 'pill' })
  #draining = h('span', { class: 'pill', 'data-tone': 'warning', text: 'Draining' })
  #version = h('span', { class: 'hint' })
  #end = h('button', { type: 'button', class: 'small', text: 'Forget token', onclick: endAccess })

  build() {
    this.append(this.#pill, this.#draining, this.#version, this.#end)
  }

  update({ metrics, version, access, nodes }) {
    const node = shownNode(nodes)
    const [tone, label] = states[metrics]
    this.#pill.dataset.tone = tone
    setText(this.#pill, label)
    this.#draining.hidden = node ? !node.draining : history.latest('patchbay_draining') !== 1
    const shown = nodes.items ? node?.build ?? '' : version
    setText(this.#version, [nodes.items && nodes.shown && `Node ${nodes.shown}`, shown && `Version ${shown}`].filter(Boolean).join(' · '))
    this.#version.hidden = this.#version.textContent === ''
    this.#end.hidden = access !== 'key' && access !== 'token'
    setText(this.#end, access === 'key' ? 'Forget key' : 'Forget token')
  }
}

customElements.define('gateway-status', GatewayStatus)

// The header: links to the gateway's pages, and the logged-in user.

import { logOut } from '../model/commands.js'
import { View, h, setText } from './view.js'

class AccountMenu extends View {
  #email = h('span', { class: 'hint account-name', dir: 'auto' })
  #state = h('span', { class: 'pill' })
  #logOut = h('button', { type: 'button', class: 'small', text: 'Log out', onclick: logOut })

  build() {
    this.append(
      h('nav', { class: 'pages', 'aria-label': 'Pages' },
        h('a', { href: '/calls', 'aria-current': 'page', text: 'Calls' }), h('a', { href: '/sessions', text: 'Sessions' }),
        h('a', { href: '/sessions#/settings', text: 'Settings' }), h('a', { href: '/', text: 'Playground' })),
      this.#state, this.#email, this.#logOut)
  }

  update({ stage, user, channel }) {
    this.#state.hidden = stage !== 'in'
    this.#email.hidden = this.#logOut.hidden = stage !== 'in' && stage !== 'consent'
    setText(this.#email, user?.email ?? '')
    setText(this.#state, { connected: 'Reachable', connecting: 'Connecting', reconnecting: 'Reconnecting' }[channel] ?? 'Not reachable')
    this.#state.dataset.tone = { connected: 'good', connecting: 'busy', reconnecting: 'warning' }[channel] ?? 'danger'
  }
}

customElements.define('account-menu', AccountMenu)

// In the header: where one can go, and who is logged in.

import { siteLinks } from '../../shared/site-links.js'
import { logOut } from '../model/commands.js'
import { View, h, setText } from './view.js'

class AccountMenu extends View {
  #sessions = h('a', { href: '#/', text: 'Sessions' })
  #settings = h('a', { href: '#/settings', text: 'Settings' })
  #email = h('span', { class: 'hint account-name', dir: 'auto' })
  #links = siteLinks('sessions', {}, this.#sessions, this.#settings)
  #logOut = h('button', { type: 'button', class: 'small', text: 'Log out', onclick: logOut })

  build() {
    this.append(this.#links, this.#email, this.#logOut)
  }

  update({ stage, user, route }) {
    for (const link of [this.#sessions, this.#settings]) link.hidden = stage !== 'in'
    this.#email.hidden = this.#logOut.hidden = stage === 'login' || stage === 'starting'
    setText(this.#email, user?.email ?? '')
    current(this.#sessions, route.name !== 'settings')
    current(this.#settings, route.name === 'settings')
  }
}

function current(link, isCurrent) {
  if (isCurrent) link.setAttribute('aria-current', 'page')
  else link.removeAttribute('aria-current')
}

customElements.define('account-menu', AccountMenu)

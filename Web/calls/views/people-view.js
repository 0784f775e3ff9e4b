// The start of a call: an address field, favourites, recent calls, contacts, and calls on other devices.

import { phone } from '../model/phone.js'
import { titleOf } from '../model/people.js'
import './contact-list.js'
import './recent-list.js'
import { View, h, setAttributes, setDisabled, setText } from './view.js'

const TABS = [['favourites', 'Favourites'], ['recents', 'Recents'], ['contacts', 'Contacts']]

class PeopleView extends View {
  #address = h('input', { type: 'text', 'aria-label': 'Whom to call', placeholder: 'E-mail address or @handle', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', maxlength: 256, required: true, dir: 'auto' })
  #call = h('button', { type: 'submit', class: 'answer', text: 'Call' })
  #links = TABS.map(([route, text]) => h('a', { href: `#/${route}`, text, 'data-route': route }))
  #elsewhere = h('ul', { class: 'elsewhere', 'aria-label': 'On other devices' })

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'People')
    this.append(
      h('form', { class: 'row dial', 'aria-label': 'Call somebody', onsubmit: (event) => this.#dial(event) }, this.#address, this.#call),
      h('problem-list', { keys: 'dial' }), this.#elsewhere,
      h('nav', { class: 'tabs', 'aria-label': 'Lists of people' }, ...this.#links),
      h('contact-list', { only: 'favourites' }), h('recent-list'), h('contact-list'))
  }

  update(state, previous) {
    const { stage, route, dialing, channel } = state
    this.hidden = stage !== 'in'
    for (const link of this.#links) setAttributes(link, { 'aria-current': link.dataset.route === route ? 'page' : '' })
    setDisabled(this.#call, dialing !== null || channel !== 'connected')
    setText(this.#call, dialing ? 'Calling…' : 'Call')
    if (state.elsewhere !== previous?.elsewhere) this.#showElsewhere(state)
    if (stage === 'in' && previous && previous.stage !== 'in') this.#address.focus()
  }

  #showElsewhere(state) {
    const { elsewhere, user } = state
    this.#elsewhere.hidden = elsewhere.length === 0
    this.#elsewhere.replaceChildren(...elsewhere.map((call) => {
      const name = titleOf({ others: call.members.filter(({ party }) => party !== user?.id) }, state)
      return h('li', { class: 'row spread' },
        h('span', {}, 'On another device: ', h('strong', { text: name, dir: 'auto' })),
        h('button', { type: 'button', text: 'Continue here', onclick: () => phone.takeOver(call.id) }))
    }))
  }

  async #dial(event) {
    event.preventDefault()
    if (await phone.call([this.#address.value.trim()])) this.#address.value = ''
    else this.#address.focus()
  }
}

customElements.define('people-view', PeopleView)

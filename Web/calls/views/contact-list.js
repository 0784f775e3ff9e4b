// The list of contacts, or of the favourites.

import { ask } from '../../shared/dialog.js'
import { removeContact, setFavourite } from '../model/commands.js'
import { phone } from '../model/phone.js'
import { editContact } from './contact-dialog.js'
import { View, h, keepFocus, setPressed } from './view.js'

class ContactList extends View {
  #list = h('ul', { class: 'people' })
  #empty = h('p', { class: 'hint' })
  #add = h('button', { type: 'button', text: 'Add a contact…', onclick: () => editContact() })
  #hasOnlyFavourites = false

  build() {
    this.#hasOnlyFavourites = this.getAttribute('only') === 'favourites'
    this.#list.setAttribute('aria-label', this.#hasOnlyFavourites ? 'Favourites' : 'Contacts')
    this.append(this.#list, this.#empty, this.#hasOnlyFavourites ? '' : this.#add)
  }

  update({ route, contacts, channel }, previous) {
    this.hidden = route !== (this.#hasOnlyFavourites ? 'favourites' : 'contacts')
    if (contacts === previous?.contacts && channel === previous?.channel) return
    const shown = contacts.list.filter(({ favorite }) => favorite || !this.#hasOnlyFavourites)
    this.#list.hidden = shown.length === 0
    this.#empty.hidden = shown.length > 0
    this.#empty.textContent = contacts.state === 'loading' ? 'Loading…' : contacts.state === 'failed' ? 'The contacts could not be loaded.'
      : this.#hasOnlyFavourites ? 'No favourites yet. Mark a contact with “Favourite”.' : 'No contacts yet. Those in your contacts can call you by your address.'
    // Keep the focus on the same button of the same contact.
    const row = document.activeElement?.closest('contact-list li')
    const [address, label] = [row?.getAttribute('data-address'), document.activeElement?.getAttribute('data-action')]
    keepFocus(this, () => this.#list.replaceChildren(...shown.map((contact) => this.#row(contact, channel === 'connected'))),
      () => this.querySelector(`li[data-address="${CSS.escape(address ?? '')}"] [data-action="${label}"]`) ?? this.querySelector('button') ?? document.getElementById('main'))
  }

  #row(contact, canCall) {
    const { address, name, favorite } = contact
    const shown = name || address
    const button = (action, text, label, onclick, properties = {}) => h('button', { type: 'button', class: 'small', 'data-action': action, text, 'aria-label': label, onclick, ...properties })
    const star = button('favourite', 'Favourite', `Favourite: ${shown}`, () => setFavourite(address, !favorite))
    setPressed(star, Boolean(favorite))
    const call = button('call', 'Call', `Call ${shown}`, () => phone.call([address]), { disabled: !canCall })
    return h('li', { 'data-address': address },
      h('div', { class: 'person' }, h('span', { class: 'name', text: shown, dir: 'auto' }), name ? h('span', { class: 'hint', text: address, dir: 'auto' }) : null),
      h('div', { class: 'row' }, call, star,
        button('edit', 'Edit…', `Edit… ${shown}`, () => editContact(contact)),
        button('remove', 'Remove…', `Remove… ${shown}`, () => this.#askToRemove(address, shown))))
  }

  async #askToRemove(address, name) {
    const agreed = await ask({ title: `Remove ${name}?`, text: 'If you are reachable by your contacts only, they can no longer call you by your address.', action: 'Remove' })
    if (agreed) await removeContact(address)
  }
}

customElements.define('contact-list', ContactList)

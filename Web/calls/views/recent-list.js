// Past calls, the most recently ended first.

import { loadMore } from '../model/commands.js'
import { phone } from '../model/phone.js'
import { kindOf, listed, nameOf, othersOf } from '../model/people.js'
import { editContact } from './contact-dialog.js'
import { View, duration, h, keepFocus, setDisabled } from './view.js'

const when = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

class RecentList extends View {
  #list = h('ul', { class: 'people', 'aria-label': 'Recent calls' })
  #empty = h('p', { class: 'hint' })
  #more = h('button', { type: 'button', text: 'Show more', onclick: loadMore })

  build() {
    this.append(this.#list, this.#empty, this.#more)
  }

  update(state, previous) {
    const { route, recents, contacts, people, channel, isBusy } = state
    this.hidden = route !== 'recents'
    this.#more.hidden = recents.next === null
    setDisabled(this.#more, isBusy)
    if (recents === previous?.recents && contacts === previous?.contacts && people === previous?.people && channel === previous?.channel) return
    this.#list.hidden = recents.list.length === 0
    this.#empty.hidden = recents.list.length > 0
    this.#empty.textContent = recents.state === 'loading' ? 'Loading…' : recents.state === 'failed' ? 'The calls could not be loaded.' : 'No calls yet.'
    const [entry, action] = [document.activeElement?.closest('recent-list li')?.getAttribute('data-entry'), document.activeElement?.getAttribute('data-action')]
    keepFocus(this, () => this.#list.replaceChildren(...recents.list.map((one) => this.#row(one, state))),
      () => this.querySelector(`li[data-entry="${CSS.escape(entry ?? '')}"] [data-action="${action}"]`) ?? this.querySelector('button') ?? document.getElementById('main'))
  }

  #row(entry, state) {
    const { user, contacts, channel } = state
    const others = othersOf(entry, user.id)
    const name = listed(others.map((party) => nameOf(party, state)))
    const { kind, text } = kindOf(entry, user.id)
    const length = entry.answered_at ? duration(Date.parse(entry.ended_at) - Date.parse(entry.answered_at)) : null
    const [party] = others
    const address = state.people[party]?.address ?? party
    const isContact = contacts.list.some((contact) => contact.address === address || contact.address === party)
    const canAdd = others.length === 1 && !isContact && !party.startsWith('assistant:')
    return h('li', { 'data-kind': kind, 'data-entry': entry.id + entry.ended_at },
      h('div', { class: 'person' }, h('span', { class: 'name', text: name, dir: 'auto' }),
        h('span', { class: 'hint', text: [text, when.format(new Date(entry.started_at)), length].filter(Boolean).join(' · ') })),
      h('div', { class: 'row' },
        h('button', { type: 'button', class: 'small', 'data-action': 'call', text: 'Call', 'aria-label': `Call ${name}`, disabled: channel !== 'connected' || others.length === 0, onclick: () => phone.call(others) }),
        canAdd ? h('button', { type: 'button', class: 'small', 'data-action': 'add', text: 'Add…', 'aria-label': `Add… ${name} to contacts`, onclick: () => editContact({ address, name: state.people[party]?.name ?? '' }, false) }) : null))
  }
}

customElements.define('recent-list', RecentList)

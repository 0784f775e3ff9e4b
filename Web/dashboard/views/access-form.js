// Where the page has no token: pasting one, or a key to sign tokens with.

import { command } from '../../shared/problem-card.js'
import { useKey, useToken } from '../model/commands.js'
import { View, field, h, setDisabled, setText, uniqueId } from './view.js'

class AccessForm extends View {
  #mode = 'token'
  #radios = {}
  #title = h('h2', { tabindex: -1, text: 'Rooms need an administrator' })
  #token = h('textarea', { rows: 4, spellcheck: 'false', autocomplete: 'off', required: true })
  #issuer = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', required: true })
  #secret = h('input', { type: 'password', autocomplete: 'off', required: true })
  #submit = h('button', { type: 'submit', class: 'primary' })
  #tokenFields
  #keyFields

  build() {
    const name = uniqueId('mode')
    const option = (mode, label) => {
      this.#radios[mode] = h('input', { type: 'radio', name, onchange: () => this.#choose(mode) })
      return h('label', {}, this.#radios[mode], h('span', { text: label }))
    }
    this.#tokenFields = h('div', { class: 'stack' }, field('Access token', this.#token, h('p', {}, 'From ', command('patchbay token --list --create --admin --room lobby'), '. It lists rooms, shows operations and administers one room; tokens for others can be added later.')))
    this.#keyFields = h('div', { class: 'stack' }, field('Key', this.#issuer, h('p', { text: 'Its name under “keys” in the gateway’s configuration.' })),
      field('Secret', this.#secret, h('p', { text: 'The page signs tokens of ten minutes with it, for any room. It does not leave this page.' })))
    this.append(this.#title,
      h('form', { class: 'stack', onsubmit: (event) => this.#send(event) },
        h('fieldset', { class: 'segments' }, h('legend', { class: 'visually-hidden', text: 'Access with' }), option('token', 'Token'), option('key', 'Key')),
        h('problem-list', { keys: 'access' }), this.#tokenFields, this.#keyFields, this.#submit,
        h('p', { class: 'hint', text: 'Kept in this page only: loading it again forgets it.' })))
    this.#choose('token')
  }

  update({ access, isBusy }, previous) {
    this.hidden = access !== 'none'
    setDisabled(this.#submit, isBusy)
    setText(this.#submit, isBusy ? 'One moment…' : 'Show rooms')
    if (access === 'none' && previous && previous.access !== 'none' && previous.access !== 'unknown') this.#title.focus()
  }

  #choose(mode) {
    this.#mode = mode
    this.#radios[mode].checked = true
    for (const [fields, isShown] of [[this.#tokenFields, mode === 'token'], [this.#keyFields, mode === 'key']]) {
      fields.hidden = !isShown
      for (const input of fields.querySelectorAll('input, textarea')) input.disabled = !isShown
    }
  }

  async #send(event) {
    event.preventDefault()
    const isDone = await (this.#mode === 'token' ? useToken(this.#token.value.trim()) : useKey(this.#issuer.value.trim(), this.#secret.value))
    if (isDone) this.#token.value = this.#secret.value = ''
    else (this.#mode === 'token' ? this.#token : this.#secret).focus()
  }
}

customElements.define('access-form', AccessForm)

// A dialog with a contact's address and name.

import { saveContact } from '../model/commands.js'
import { field, h, uniqueId } from './view.js'

/** Edits a contact, or creates one with these values. `isKnown`: whether the contact exists. */
export function editContact({ address = '', name = '', favorite = false } = {}, isKnown = address !== '') {
  const title = uniqueId('dialog')
  const inputs = {
    name: h('input', { type: 'text', maxlength: 128, autocomplete: 'off', autofocus: true, dir: 'auto' }),
    address: h('input', { type: 'text', maxlength: 256, required: true, autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', dir: 'auto' }),
    favorite: h('input', { type: 'checkbox' }),
  }
  Object.assign(inputs.name, { value: name })
  Object.assign(inputs.address, { value: address })
  inputs.favorite.checked = favorite
  const save = async (event) => {
    event.preventDefault()
    const isSaved = await saveContact({ address: inputs.address.value, name: inputs.name.value, favorite: inputs.favorite.checked }, isKnown ? address : null)
    if (isSaved) dialog.close()
    else inputs.address.focus()
  }
  const dialog = h('dialog', { 'aria-labelledby': title },
    h('form', { onsubmit: save },
      h('h2', { id: title, text: isKnown ? 'Edit contact' : 'Add a contact' }), h('problem-list', { keys: 'contacts' }),
      field('Name', inputs.name), field('Address', inputs.address, h('p', { text: 'An e-mail address, or @ and a handle.' })),
      h('label', { class: 'check' }, inputs.favorite, h('span', { text: 'Favourite' })),
      h('div', { class: 'dialog-actions' }, h('button', { type: 'button', text: 'Cancel', onclick: () => dialog.close() }), h('button', { type: 'submit', class: 'primary', text: 'Save' }))))
  const opener = /** @type {HTMLElement} */ (document.activeElement)
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (opener.isConnected) return
    // The row has been created again.
    const again = document.querySelector(`contact-list:not([hidden]) li[data-address="${CSS.escape(inputs.address.value.trim())}"] [data-action=edit]`)
    ;/** @type {HTMLElement} */ (again ?? document.getElementById('main')).focus()
  })
  document.body.append(dialog)
  dialog.showModal()
}

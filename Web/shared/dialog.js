// Questions before something that cannot be undone.

import { field, h, uniqueId } from './elements.js'

/**
 * Asks in a modal dialog; resolves to whether the user agreed. The focus begins on “Cancel” or in the field, and returns afterwards.
 *
 * `word`: what has to be typed first, such as the account's address; `wordLabel` says what that is.
 */
export function ask({ title, text, action, word = '', wordLabel = '' }) {
  const { promise, resolve } = Promise.withResolvers?.() ?? deferred()
  const titleId = uniqueId('dialog')
  const input = word ? h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none', autofocus: true, dir: 'auto' }) : null
  const confirm = h('button', { type: 'submit', value: 'yes', class: 'danger', text: action, disabled: Boolean(word) })
  input?.addEventListener('input', () => (confirm.disabled = input.value.trim().toLowerCase() !== word.toLowerCase()))
  const dialog = h('dialog', { 'aria-labelledby': titleId },
    h('form', { method: 'dialog' },
      h('h2', { id: titleId, text: title, dir: 'auto' }), h('p', { text, dir: 'auto' }),
      input ? field(wordLabel, input, h('p', { text: word, dir: 'auto' })) : null,
      h('div', { class: 'dialog-actions' }, h('button', { type: 'button', text: 'Cancel', autofocus: !word, onclick: () => dialog.close() }), confirm)))
  dialog.addEventListener('close', () => {
    dialog.remove()
    resolve(dialog.returnValue === 'yes')
  })
  document.body.append(dialog)
  dialog.showModal()
  return promise
}

function deferred() {
  let resolve
  return { promise: new Promise((settle) => (resolve = settle)), resolve }
}

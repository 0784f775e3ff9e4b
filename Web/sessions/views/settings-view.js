// What is kept, how assistants talk to the user, and the account itself.

import { ask } from '../../shared/dialog.js'
import { changePassword, deleteAccount, saveSettings } from '../model/commands.js'
import { exportData } from '../model/downloads.js'
import { describe } from '../model/problems.js'
import './address-settings.js'
import { View, checkbox, field, h, markInvalid, setDisabled, setText } from './view.js'

const LANGUAGES = ['de', 'de-AT', 'de-CH', 'en', 'en-GB', 'en-US', 'es', 'fr', 'it', 'ar', 'he', 'nl', 'pl', 'pt', 'tr', 'uk', 'zh']
const REACHABLE = [['nobody', 'Nobody'], ['contacts', 'My contacts'], ['anyone', 'Everyone who knows my address or handle']]

class SettingsView extends View {
  #title = h('h2', { tabindex: -1, text: 'Settings' })
  #inputs = {
    logging_enabled: h('input', { type: 'checkbox' }),
    shares_past_summaries: h('input', { type: 'checkbox' }),
    pushes_summaries: h('input', { type: 'checkbox' }),
    retention_days: h('input', { type: 'number', min: 7, max: 365, step: 1, required: true, inputmode: 'numeric' }),
    voice: h('select'),
    language: h('input', { type: 'text', list: 'languages', maxlength: 35, placeholder: 'The assistant’s', spellcheck: 'false', autocapitalize: 'none' }),
    time_zone: h('input', { type: 'text', list: 'time-zones', maxlength: 64, placeholder: 'UTC', spellcheck: 'false', autocapitalize: 'none' }),
    reachable_by: h('select', {}, ...REACHABLE.map(([value, text]) => h('option', { value, text }))),
    handle: h('input', { type: 'text', maxlength: 32, minlength: 3, pattern: '[A-Za-z0-9][A-Za-z0-9._\\-]*', placeholder: 'None', spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off' }),
  }
  #save = h('button', { type: 'submit', class: 'primary', text: 'Save settings' })
  #saved = h('p', { class: 'hint', role: 'status' })
  #current = h('input', { type: 'password', autocomplete: 'current-password', required: true, maxlength: 1024 })
  #next = h('input', { type: 'password', autocomplete: 'new-password', required: true, minlength: 8, maxlength: 1024 })
  #change = h('button', { type: 'submit', text: 'Change password' })
  #changed = h('p', { class: 'hint', role: 'status' })
  #export = h('button', { type: 'button', text: 'Download my data', onclick: () => this.#exportData() })
  #delete = h('button', { type: 'button', class: 'danger', text: 'Delete account…', onclick: () => this.#askToDelete() })
  #email = ''
  // The settings in the form, as the gateway has them.
  #shown = null

  build() {
    const { logging_enabled, shares_past_summaries, pushes_summaries, retention_days, voice, language, time_zone, reachable_by, handle } = this.#inputs
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const useZone = h('button', { type: 'button', class: 'small', text: `Use ${zone}`, onclick: () => (time_zone.value = zone) })
    this.append(this.#title,
      h('form', { class: 'stack', 'aria-label': 'Settings', onsubmit: (event) => this.#submit(event) },
        section('Conversations',
          h('p', { text: 'Your assistant calls can be recorded and summarized for your benefit. Whether they are is your decision, and the call shows it as long as it may be recorded.' }),
          checkbox('Keep my conversations', logging_enabled, 'If this is on, the gateway keeps the transcript, a summary and, where it records, the sound of each session that starts from now on. If it is off, you talk as well as otherwise, and nothing of what is said is kept. Sessions that were kept earlier stay until they are deleted.'),
          checkbox('Tell assistants about earlier conversations', shares_past_summaries, 'If this is on, an assistant gets the summaries of your last five conversations when you call it. If it is off, it knows nothing of them.'),
          checkbox('Tell my phone when a summary is ready', pushes_summaries, 'With its title and first sentence, if an app on the phone has registered.'),
          h('div', { class: 'short' }, field('Delete sessions after', retention_days, h('p', { text: 'In days, 7 to 365. After that time a session is deleted with everything that belongs to it.' })))),
        section('Assistants', h('div', { class: 'pair' },
          field('Voice', voice), field('Language', language, h('p', { text: 'A tag such as de-AT; empty for the assistant’s own.' })),
          h('div', { class: 'field' }, field('Time zone', time_zone, h('p', { text: 'For times on this page and in exports.' })), h('div', {}, useZone)))),
        section('Calls from others', h('div', { class: 'pair' },
          field('Who may call me', reachable_by), field('Handle', handle, h('p', { text: 'Others can call you by it: 3 to 32 letters, digits, “.”, “_” or “-”.' })))),
        h('problem-list', { keys: 'settings' }), h('div', { class: 'row' }, this.#save, this.#saved),
        h('datalist', { id: 'languages' }, ...LANGUAGES.map((value) => h('option', { value }))),
        h('datalist', { id: 'time-zones' }, ...['UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])].map((value) => h('option', { value })))),
      section('E-mail address', h('address-settings', { class: 'stack' })),
      h('form', { class: 'stack', 'aria-label': 'Password', onsubmit: (event) => this.#changePassword(event) },
        section('Password', h('div', { class: 'pair' },
          field('Current password', this.#current), field('New password', this.#next, h('p', { text: 'At least 8 characters. Other devices are logged out.' })))),
        h('problem-list', { keys: 'password' }), h('div', { class: 'row' }, this.#change, this.#changed)),
      h('div', { class: 'stack' },
        section('Your data',
          h('p', { text: 'No other user sees your transcripts, summaries and recordings. The gateway stores your texts encrypted, with a key of your own.' }),
          h('p', { text: 'You can download everything that is stored about you as one JSON file: account, contacts, conversations, calls and sessions. If you delete your account, all of it is deleted, with the key.' }),
          h('problem-list', { keys: 'export' }), h('div', { class: 'row' }, this.#export, this.#delete))))
  }

  update({ stage, route, user, voices, isBusy, problems }, previous) {
    this.hidden = stage !== 'in' || route.name !== 'settings'
    this.#email = user?.email ?? ''
    for (const button of [this.#save, this.#change, this.#export, this.#delete]) setDisabled(button, isBusy)
    if (user && (user.settings !== this.#shown || voices !== previous?.voices)) this.#show(user, voices)
    const fault = (key) => { const found = problems.find((problem) => problem.key === key); return found && describe(found).field }
    if (problems !== previous?.problems) {
      markInvalid(this.#inputs, fault('settings'))
      markInvalid({ current: this.#current }, fault('password'))
    }
    if (!this.hidden && previous && (previous.route.name !== 'settings' || previous.stage !== 'in')) {
      setText(this.#saved, '')
      setText(this.#changed, '')
      this.#title.focus()
    }
  }

  #show(user, voices) {
    const { settings } = user
    const isNew = settings !== this.#shown
    this.#shown = settings
    const own = settings.voice && !voices.some(({ id }) => id === settings.voice) ? [{ id: settings.voice }] : []
    const chosen = isNew ? settings.voice ?? '' : this.#inputs.voice.value
    this.#inputs.voice.replaceChildren(h('option', { value: '', text: 'The assistant’s own' }), ...[...own, ...voices].map(({ id, name }) => h('option', { value: id, text: name ?? id })))
    this.#inputs.voice.value = chosen
    if (!isNew) return
    for (const [name, input] of Object.entries(this.#inputs)) {
      if (input.type === 'checkbox') input.checked = settings[name]
      else input.value = settings[name] ?? ''
    }
  }

  /** Only what differs is sent, so that two devices do not undo each other's changes. */
  #changes() {
    const settings = this.#shown
    const changes = {}
    for (const [name, input] of Object.entries(this.#inputs)) {
      const value = input.type === 'checkbox' ? input.checked : input.type === 'number' ? Number(input.value) : input.value.trim()
      if (value !== (settings[name] ?? '')) changes[name] = value
    }
    return changes
  }

  async #submit(event) {
    event.preventDefault()
    const changes = this.#changes()
    setText(this.#saved, '')
    const isDone = Object.keys(changes).length === 0 || (await saveSettings(changes))
    if (isDone) setText(this.#saved, 'Saved.')
    else /** @type {HTMLElement} */ (this.querySelector('[aria-invalid]'))?.focus()
  }

  async #changePassword(event) {
    event.preventDefault()
    setText(this.#changed, '')
    if (!(await changePassword(this.#current.value, this.#next.value))) return this.#current.focus()
    this.#current.value = this.#next.value = ''
    setText(this.#changed, 'Changed. Other devices are logged out.')
  }

  async #exportData() {
    setText(this.#export, 'Preparing…')
    await exportData()
    setText(this.#export, 'Download my data')
    this.#export.focus()
  }

  async #askToDelete() {
    const agreed = await ask({
      title: 'Delete your account?', action: 'Delete account', word: this.#email || 'delete',
      wordLabel: this.#email ? 'Type your e-mail address to confirm' : 'Type this word to confirm',
      text: 'All sessions, recordings, conversations, contacts and settings are deleted, and running calls end. This cannot be undone.',
    })
    if (agreed) await deleteAccount()
  }
}

const section = (title, ...children) => h('fieldset', { class: 'group' }, h('legend', {}, h('h3', { text: title })), h('div', { class: 'stack' }, ...children))

customElements.define('settings-view', SettingsView)

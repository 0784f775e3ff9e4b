// One session: its summary, its transcript with the recordings, exporting and deleting it.

import { ask } from '../../shared/dialog.js'
import { deleteSession, reload } from '../model/commands.js'
import { exportSession } from '../model/downloads.js'
import './session-player.js'
import './session-transcript.js'
import { View, dateFormats, h, keepFocus, length, setDisabled, setText } from './view.js'

const FORMATS = [['txt', 'Text'], ['pdf', 'PDF'], ['json', 'JSON'], ['vtt', 'WebVTT'], ['srt', 'SubRip']]

class SessionView extends View {
  #title = h('h2', { tabindex: -1, dir: 'auto' })
  #facts = h('p', { class: 'hint' })
  #state = h('div', { class: 'empty' })
  #summary = h('section', { class: 'summary', 'aria-label': 'Summary' })
  #export = h('details', { class: 'menu' }, h('summary', { class: 'button', text: 'Export' }),
    h('div', { class: 'menu-items', role: 'group', 'aria-label': 'Export as' },
      ...FORMATS.map(([format, label]) => h('button', { type: 'button', text: label, onclick: () => this.#saveAs(format) }))))
  #delete = h('button', { type: 'button', class: 'danger', text: 'Delete…', onclick: () => this.#askToDelete() })
  #head = h('div', { class: 'session-head' },
    h('a', { class: 'back', href: '#/', text: '‹ All sessions' }),
    h('div', { class: 'row spread' }, h('div', { class: 'session-name' }, this.#title, this.#facts), h('div', { class: 'row' }, this.#export, this.#delete)))
  #body = h('div', { class: 'session-body' }, this.#summary, h('session-transcript'))
  #player = h('session-player')
  #id = null

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Session')
    this.append(this.#head, this.#state, this.#body, this.#player)
    this.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.#export.open) return
      this.#export.open = false
      this.#export.firstChild.focus()
    })
  }

  update(state, previous) {
    const { stage, route, detail, user, isBusy } = state
    this.hidden = stage !== 'in' || route.name === 'settings'
    const isReady = detail.state === 'ready' && detail.id !== null
    for (const part of [this.#export, this.#delete, this.#body, this.#facts]) part.hidden = !isReady
    this.#player.hidden = !isReady || detail.recordings.length === 0
    this.#head.hidden = detail.id === null
    setDisabled(this.#delete, isBusy)
    if (detail !== previous?.detail || route !== previous?.route || user !== previous?.user || stage !== previous?.stage) this.#show(state, isReady)
    if (detail.id === this.#id && stage === previous?.stage) return
    this.#id = detail.id
    this.#export.open = false
    if (detail.id !== null && stage === 'in') {
      this.scrollTop = 0
      if (previous) this.#title.focus({ preventScroll: true })
    }
  }

  #show({ detail, user, list }, isReady) {
    keepFocus(this.#state, () => {
      this.#state.hidden = isReady
      this.#state.replaceChildren(...(isReady ? [] : missing(detail, list)))
    }, () => this.#state.querySelector('button') ?? this.#title)
    if (detail.id === null) return
    const known = list.sessions.find(({ id }) => id === detail.id)
    setText(this.#title, detail.summary?.title || known?.title || (isReady ? 'Session' : detail.state === 'missing' ? 'No such session' : 'Loading…'))
    if (!isReady) return
    const { session, summary, turns } = detail
    const formats = dateFormats(user)
    setText(this.#facts, [
      formats.long.format(new Date(session.started_at)), length(session) ?? 'running', `${turns.length.toLocaleString()} ${turns.length === 1 ? 'turn' : 'turns'}`, session.context, session.language,
    ].filter(Boolean).join(' · '))
    this.#summary.replaceChildren(...describeSummary(session, summary))
  }

  async #saveAs(format) {
    this.#export.open = false
    this.#export.firstChild.focus()
    await exportSession(this.#id, format)
  }

  async #askToDelete() {
    const agreed = await ask({
      title: 'Delete this session?', text: 'Its transcript, recordings and summary are deleted. This cannot be undone.', action: 'Delete session',
    })
    if (agreed) await deleteSession(this.#id)
  }
}

/** What is shown instead of a session. */
function missing({ id, state }, list) {
  if (id === null) return list.sessions.length ? [h('p', { text: 'Choose a session to read it.' })] : []
  if (state === 'loading') return [h('p', { role: 'status', text: 'Loading the session…' })]
  const again = h('button', { type: 'button', text: 'Try again', onclick: reload })
  if (state === 'failed') return [h('p', { text: 'The session could not be loaded.' }), again]
  return [
    h('p', { text: 'It was deleted, has expired, or belongs to another account.' }),
    h('a', { class: 'button', href: '#/', text: 'Show all sessions' }),
  ]
}

function describeSummary({ summary_status: status, ended_at, logging_enabled_snapshot: isLogged }, summary) {
  if (!isLogged) return [note('This session was not logged, so nothing of it is kept. To keep the next ones, turn on “Keep my conversations” in the settings before they start.')]
  if (!summary) {
    const text = ended_at === null ? 'The summary is made when the session ends. New turns appear here by themselves.'
      : status === 'failed' ? 'The summary could not be made. The transcript is complete.' : 'The summary is being made…'
    return [note(text)]
  }
  return [
    h('p', { class: 'summary-text', dir: 'auto', text: summary.summary_text }),
    summary.action_items.length
      ? h('div', {}, h('h3', { text: 'To do' }), h('ul', { class: 'actions' }, ...summary.action_items.map((text) => h('li', { dir: 'auto', text })))) : null,
    summary.tags.length ? h('ul', { class: 'tags', 'aria-label': 'Tags' }, ...summary.tags.map((text) => h('li', { dir: 'auto', text }))) : null,
    status === 'pending' ? note('Something was said afterwards: the summary is being made anew.')
      : summary.provisional ? note('This is a provisional summary; a better one follows.') : null,
  ].filter(Boolean)
}

const note = (text) => h('p', { class: 'hint', role: 'status', text })

customElements.define('session-view', SessionView)

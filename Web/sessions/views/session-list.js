// The user's sessions, newest first, page by page.

import { ask } from '../../shared/dialog.js'
import { addressOf, deleteAllSessions, loadMore, refresh } from '../model/commands.js'
import { PullToRefresh } from './pull-to-refresh.js'
import { View, dateFormats, h, length, setDisabled, setText } from './view.js'

class SessionList extends View {
  #title = h('h2', { tabindex: -1, text: 'Sessions' })
  #status = h('p', { class: 'hint', role: 'status' })
  #list = h('ol', { class: 'sessions' })
  #empty = h('div', { class: 'empty' })
  #more = h('button', { type: 'button', text: 'Show more', onclick: () => this.#loadMore() })
  #refresh = h('button', { type: 'button', class: 'small', text: 'Refresh', onclick: () => this.#reload() })
  #deleteAll = h('button', { type: 'button', class: 'small danger', text: 'Delete all…', onclick: () => this.#askToDeleteAll() })
  #rows = new Map()

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', 'Sessions')
    const pull = new PullToRefresh(this, refresh)
    this.append(pull.element,
      h('div', { class: 'row spread list-head' }, h('div', {}, this.#title, this.#status), h('a', { class: 'button primary', href: '/', text: 'Call an assistant' })),
      h('div', { class: 'row list-tools' }, this.#refresh, this.#deleteAll), this.#list, this.#empty, this.#more)
  }

  update(state, previous) {
    const { stage, route, list, user, detail } = state
    this.hidden = stage !== 'in' || route.name === 'settings'
    // Phones show the list or the session. Before either of them takes the focus.
    this.parentElement.toggleAttribute('data-open', route.name === 'session')
    const { sessions, next, isLoadingMore } = list
    setText(this.#status, { loading: 'Loading…', failed: 'Not loaded.', ready: sessions.length ? `${sessions.length}${next ? ' or more' : ''}, newest first` : '' }[list.state])
    this.#deleteAll.hidden = sessions.length === 0
    this.#more.hidden = next === null
    setDisabled(this.#more, isLoadingMore)
    setText(this.#more, isLoadingMore ? 'Loading…' : 'Show more')
    if (list !== previous?.list || user !== previous?.user) this.#show(sessions, dateFormats(user))
    if (!previous || list !== previous.list || user !== previous.user) this.#showEmpty(list, user)
    for (const [id, { link }] of this.#rows) {
      if (id === route.id) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
    // Coming back from a session, on phones and after deleting it.
    if (this.hidden) return
    if (previous?.route.name === 'session' && route.name === 'list') (this.#rows.get(previous.route.id)?.link ?? this.#title).focus()
    else if (previous && previous.stage !== 'in' && route.name === 'list' && detail.id === null) this.#title.focus()
  }

  #show(sessions, formats) {
    const ids = new Set(sessions.map(({ id }) => id))
    for (const [id, { item }] of this.#rows) {
      if (ids.has(id)) continue
      item.remove()
      this.#rows.delete(id)
    }
    let before = this.#list.firstChild
    for (const session of sessions) {
      let row = this.#rows.get(session.id)
      if (!row) this.#rows.set(session.id, (row = createRow(session.id)))
      fillRow(row, session, formats)
      if (row.item === before) before = before.nextSibling
      else this.#list.insertBefore(row.item, before)
    }
    this.#list.hidden = sessions.length === 0
  }

  #showEmpty({ state, sessions }, user) {
    this.#empty.hidden = state !== 'ready' || sessions.length > 0
    if (this.#empty.hidden) return
    const isLogged = user?.settings.logging_enabled
    this.#empty.replaceChildren(
      h('h3', { text: 'No sessions yet' }),
      h('p', { text: isLogged
        ? 'Call an assistant with this account. The session appears here, with its transcript and its summary.'
        : 'Your conversations are not kept. Turn that on in the settings before you talk to an assistant.' }),
      h('div', { class: 'row' },
        isLogged ? null : h('a', { class: 'button', href: '#/settings', text: 'Open the settings' })))
  }

  async #reload() {
    setDisabled(this.#refresh, true)
    setText(this.#refresh, 'Refreshing…')
    await refresh()
    setText(this.#refresh, 'Refresh')
    setDisabled(this.#refresh, false)
  }

  async #loadMore() {
    const before = this.#list.childElementCount
    await loadMore()
    this.#list.children[before]?.querySelector('a').focus()
  }

  async #askToDeleteAll() {
    const agreed = await ask({
      title: 'Delete all sessions?', action: 'Delete all sessions',
      text: 'All transcripts, recordings and summaries are deleted, also of sessions that are not listed yet. A running session ends. This cannot be undone.',
    })
    if (agreed && (await deleteAllSessions())) this.#title.focus()
  }
}

function createRow(id) {
  const row = { title: h('span', { class: 'session-title', dir: 'auto' }), date: h('span', { class: 'hint' }), snippet: h('span', { class: 'snippet', dir: 'auto' }) }
  row.running = h('span', { class: 'pill', 'data-tone': 'busy', text: 'Running' })
  row.link = h('a', { href: addressOf(id) }, row.title, h('span', { class: 'row spread' }, row.date, row.running), row.snippet)
  row.item = h('li', {}, row.link)
  return row
}

function fillRow(row, session, formats) {
  setText(row.title, session.title || (session.ended_at === null ? 'Session in progress' : 'Session without a summary'))
  setText(row.date, [formats.short.format(new Date(session.started_at)), length(session)].filter(Boolean).join(' · '))
  setText(row.snippet, session.summary_snippet)
  row.snippet.hidden = session.summary_snippet === ''
  row.running.hidden = session.ended_at !== null
}

customElements.define('session-list', SessionList)

// The view after a call: its duration, summary, copying of the transcript, and the stored session.

import { announce } from '../../shared/announce.js'
import { texts } from '../model/language.js'
import { isInCall } from '../model/state.js'
import { transcriptText } from '../model/transcript-text.js'
import { trendOf } from '../model/turns.js'
import { View, duration, h, keepFocus, setText } from './view.js'

const t = texts.after

class AfterCall extends View {
  #facts = h('p')
  #summary = h('div', { class: 'stack tight' })
  #copy = h('button', { type: 'button', onclick: () => this.#copyText() })
  #open = h('a', { class: 'button', text: t.open })
  #settings = h('a', { class: 'button', href: '/sessions#/settings', text: t.settings })
  #copied = h('p', { class: 'hint' })
  #state = null
  #shown = null

  build() {
    this.setAttribute('role', 'region')
    this.setAttribute('aria-label', t.title)
    this.append(h('h2', { text: t.title }), this.#facts, this.#summary, h('div', { class: 'row' }, this.#copy, this.#open, this.#settings), this.#copied)
  }

  update(state) {
    this.#state = state
    const { stage, room, session, transcript, turns } = state
    this.hidden = stage !== 'call' || isInCall(state) || room.name === ''
    if (this.hidden) return
    const lines = transcript.lines.filter(({ kind }) => kind !== 'note').length
    const trend = trendOf(turns)
    setText(this.#facts, [t.facts(duration(room.endedAt - room.startedAt), lines), trend && t.response(`${Math.round(trend.average)}\u00a0ms`)].filter(Boolean).join(' '))
    this.#copy.hidden = lines === 0 && !session.summary
    setText(this.#copy, session.summary ? t.copyAll : t.copy)
    this.#open.hidden = !['pending', 'ready', 'failed', 'slow'].includes(session.state)
    if (session.id) this.#open.href = `/sessions#/sessions/${encodeURIComponent(session.id)}`
    this.#settings.hidden = session.state !== 'unlogged'
    if (session === this.#shown) return
    this.#shown = session
    setText(this.#copied, '')
    keepFocus(this.#summary, () => this.#summary.replaceChildren(...describe(session)), () => this.#copy)
    if (session.state === 'ready') announce(`${t.summary}: ${session.summary.title}`)
  }

  async #copyText() {
    let text = t.copied
    try {
      await navigator.clipboard.writeText(transcriptText(this.#state))
    } catch {
      text = t.copyFailed
    }
    setText(this.#copied, text)
    announce(text)
  }
}

function describe({ state, summary }) {
  if (state === 'ready') {
    const items = summary.action_items ?? []
    return [
      h('h3', { text: summary.title, dir: 'auto' }), h('p', { class: 'summary-text', text: summary.summary_text, dir: 'auto' }),
      ...(items.length ? [h('h3', { text: t.toDo }), h('ul', {}, ...items.map((text) => h('li', { text, dir: 'auto' })))] : []),
    ]
  }
  const text = { none: t.noAccount, pending: t.pending, failed: t.failed, slow: t.slow, unlogged: t.notLogged }[state]
  return text ? [h('p', { class: 'hint', role: 'status', text })] : []
}

customElements.define('after-call', AfterCall)

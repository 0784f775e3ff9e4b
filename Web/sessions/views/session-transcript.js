// The turns of a session. Long transcripts stay responsive: lines are made in slices, and the browser lays out only groups in view.

import { playback } from './playback.js'
import { View, dateFormats, duration, h, setText } from './view.js'

// Lines that are made at once. The next slice follows after the browser has had time to paint and to react.
const SLICE = 200
const GROUP = 50
const speakers = { user: 'You', assistant: 'Assistant' }

class SessionTranscript extends View {
  #list = h('div', { class: 'turns', role: 'list', 'aria-label': 'Transcript' })
  #empty = h('p', { class: 'hint' })
  #hint = h('p', { class: 'visually-hidden', text: 'Use the arrow keys to move between lines, and Enter to play from a line.' })
  #turns = null
  #session = null
  #rows = []
  #formats = null
  #isRecorded = false
  #current = -1
  // Cancels the next slice.
  #cancel = null

  build() {
    this.append(h('h3', { text: 'Transcript' }), this.#hint, this.#empty, this.#list)
    this.#list.addEventListener('click', (event) => {
      const index = this.#indexOf(event.target.closest('button.at'))
      if (index >= 0) playback.playFrom(index)
    })
    this.#list.addEventListener('keydown', (event) => this.#move(event))
    playback.addEventListener('positions', () => this.#place())
    playback.addEventListener('line', () => this.#highlight(playback.line))
  }

  update({ detail, user }, previous) {
    if (detail.state !== 'ready' || (detail === previous?.detail && user === previous?.user)) return
    const { turns } = detail
    this.#isRecorded = detail.recordings.length > 0
    this.#hint.hidden = !this.#isRecorded
    this.#empty.hidden = turns.length > 0
    setText(this.#empty, detail.session.logging_enabled_snapshot ? (detail.session.ended_at === null ? 'Nothing was said yet.' : 'Nothing was said.') : 'There is no transcript.')
    this.#list.hidden = turns.length === 0
    if (user !== previous?.user || !this.#formats) this.#formats = dateFormats(user)
    if (detail.id !== this.#session) {
      this.#session = detail.id
      this.#rows = []
      this.#current = -1
      this.#list.replaceChildren()
    }
    this.#turns = turns
    this.#render()
  }

  /** Makes or updates lines, a slice at a time. */
  #render(from = 0) {
    this.#cancel?.()
    this.#cancel = null
    const until = Math.min(from + SLICE, this.#turns.length)
    for (let index = from; index < until; index++) {
      if (!this.#rows[index]) this.#append((this.#rows[index] = createRow()).element, index)
      fillRow(this.#rows[index], this.#turns[index], this.#formats)
    }
    if (until < this.#turns.length) {
      this.#cancel = schedule(() => this.#render(until))
      return
    }
    for (const row of this.#rows.splice(this.#turns.length)) row.element.remove()
    while (this.#list.lastElementChild?.childElementCount === 0) this.#list.lastElementChild.remove()
    this.#place()
  }

  #append(line, index) {
    if (index % GROUP === 0) this.#list.append(h('ol', { class: 'turn-group', role: 'none' }))
    this.#list.lastElementChild.append(line)
  }

  /** With recordings, lines have a button: with the time of day, or the time in the recordings once they are loaded. */
  #place() {
    const { positions } = playback
    this.#rows.forEach((row, index) => {
      row.at.hidden = !this.#isRecorded
      row.time.hidden = this.#isRecorded
      if (!this.#isRecorded) return
      const time = positions ? duration(positions[index] * 1000) : row.time.textContent
      setText(row.at, time)
      row.at.setAttribute('aria-label', `Play from ${time}`)
      row.at.tabIndex = index === Math.max(0, this.#current) ? 0 : -1
    })
  }

  #highlight(index) {
    if (index === this.#current) return
    const [old, now] = [this.#rows[this.#current], this.#rows[index]]
    old?.element.removeAttribute('aria-current')
    now?.element.setAttribute('aria-current', 'true')
    this.#current = index
    if (!now) return
    if (old) old.at.tabIndex = -1
    now.at.tabIndex = 0
    // Follows the recording unless the reader is somewhere else on purpose.
    if (playback.isPlaying && !this.contains(document.activeElement)) now.element.scrollIntoView({ block: 'nearest' })
  }

  #indexOf(button) {
    return button ? this.#rows.findIndex(({ at }) => at === button) : -1
  }

  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key]
    const index = this.#indexOf(event.target.closest('button.at'))
    if (!step || index < 0) return
    const next = Math.min(Math.max(0, index + step), this.#rows.length - 1)
    event.preventDefault()
    this.#rows[index].at.tabIndex = -1
    this.#rows[next].at.tabIndex = 0
    this.#rows[next].at.focus()
  }
}

/** Does something before the next frame, or soon while the page is hidden. Returns a function that cancels it. */
function schedule(task) {
  if (document.hidden) {
    const timer = setTimeout(task)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(task)
  return () => cancelAnimationFrame(frame)
}

function createRow() {
  const row = {
    time: h('time', { class: 'hint' }), at: h('button', { type: 'button', class: 'at', hidden: true }), speaker: h('span', { class: 'speaker' }), text: h('p', { dir: 'auto' }),
    turn: null, formats: null,
  }
  row.element = h('li', { role: 'listitem' }, h('span', { class: 'turn-head' }, row.speaker, row.time, row.at), row.text)
  return row
}

function fillRow(row, turn, formats) {
  const { turn: shown } = row
  if (row.formats === formats && shown.id === turn.id && shown.text === turn.text && shown.timestamp === turn.timestamp) return
  Object.assign(row, { turn, formats })
  row.element.dataset.kind = turn.speaker
  setText(row.speaker, speakers[turn.speaker] ?? turn.speaker)
  setText(row.time, formats.time.format(new Date(turn.timestamp)))
  row.time.setAttribute('datetime', turn.timestamp)
  setText(row.text, turn.text)
}

customElements.define('session-transcript', SessionTranscript)

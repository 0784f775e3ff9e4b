// One room: who is in it and talks, what happened, and muting and removing participants.

import { GONE_MS } from '../../shared/waits.js'
import { ask } from '../../shared/dialog.js'
import { command } from '../../shared/problem-card.js'
import { addToken, removeParticipant, setMuted } from '../model/commands.js'
import { seconds } from '../model/figures.js'
import { kindOf } from '../model/state.js'
import './room-events.js'
import { View, field, h, keepFocus, setDisabled, setText } from './view.js'

const kinds = { call: 'Call', session: 'Session', room: 'Room' }
const AGENT_STATE = 'lk.agent.state'

class RoomPanel extends View {
  #title = h('h2', { tabindex: -1, dir: 'auto' })
  #facts = h('p', { class: 'hint' })
  #notice = h('div', { class: 'problem', 'data-severity': 'info' }, h('div', {}, h('h3', { text: 'This room has ended' }), h('p', { text: 'Below is what was last known of it. Its log is gone with it.' })))
  #loading = h('p', { class: 'hint', role: 'status', text: 'Loading the room…' })
  #token = h('textarea', { rows: 4, spellcheck: 'false', autocomplete: 'off', required: true })
  #tokenHint = command('')
  #locked = h('form', { class: 'stack', 'aria-label': 'Token for this room', onsubmit: (event) => this.#unlock(event) },
    h('p', {}, 'A token administers one room. Make one for this room: ', this.#tokenHint),
    field('Token for this room', this.#token), h('button', { type: 'submit', class: 'primary', text: 'Show the room' }))
  #people = h('ul', { class: 'people', 'aria-label': 'Participants' })
  #nobody = h('p', { class: 'hint', text: 'Nobody is in the room. It ends soon, unless somebody joins.' })
  #rows = new Map()

  build() {
    this.append(h('a', { class: 'back', href: '#/', text: '‹ All rooms' }), h('div', {}, this.#title, this.#facts), h('problem-list', { keys: 'room' }),
      this.#loading, this.#locked, this.#notice, this.#nobody, this.#people, h('room-events'))
  }

  update({ access, room, isBusy }, previous) {
    this.hidden = access === 'none' || access === 'unknown' || room.name === null
    if (room === previous?.room && isBusy === previous.isBusy && access === previous.access) return
    const { name, state, detail } = room
    setText(this.#title, name ?? '')
    this.#loading.hidden = state !== 'loading'
    this.#locked.hidden = state !== 'locked'
    setText(this.#tokenHint, `patchbay token --admin --room ${quoted(name ?? '')}`)
    this.#notice.hidden = state !== 'gone'
    this.#facts.hidden = detail === null
    this.#people.hidden = this.#nobody.hidden = true
    // A button may go with its participant or track.
    if (detail) keepFocus(this, () => this.#show(room, isBusy), () => this.#title)
    if (!this.hidden && (name !== previous?.room.name || previous?.access === 'none')) this.#title.focus()
  }

  #show({ name, state, detail }, isBusy) {
    const { participants, active_speakers: speakers = [], reconnecting = [], room } = detail
    setText(this.#facts, [
      kinds[kindOf(name)], `${participants.length}${room.max_participants ? ` of ${room.max_participants}` : ''} ${participants.length === 1 && !room.max_participants ? 'participant' : 'participants'}`, `open for ${seconds(Date.now() / 1000 - room.created_at)}`, room.sid,
    ].join(' · '))
    this.#nobody.hidden = participants.length > 0 || state === 'gone'
    this.#people.hidden = participants.length === 0
    const sids = new Set(participants.map(({ sid }) => sid))
    for (const [sid, row] of this.#rows) {
      if (sids.has(sid)) continue
      row.element.remove()
      this.#rows.delete(sid)
    }
    for (const participant of participants) {
      let row = this.#rows.get(participant.sid)
      if (!row) {
        row = createRow()
        this.#rows.set(participant.sid, row)
        this.#people.append(row.element)
      }
      const speaker = speakers.find(({ participant: identity }) => identity === participant.identity)
      // In a room that has ended, nobody returns.
      const lost = state === 'gone' ? undefined : reconnecting.find(({ participant: identity }) => identity === participant.identity)
      showConnection(row, participant, lost?.lost_ms ?? null)
      this.#fill(row, name, participant, speaker, isBusy || state === 'gone')
    }
  }

  #fill(row, room, participant, speaker, isDisabled) {
    const { identity, name, kind, tracks = [], joined_at, permission, attributes } = participant
    setText(row.name, name || identity)
    setText(row.facts, [name && identity, kind !== 'standard' && kind, row.connection.hidden && attributes?.[AGENT_STATE], permission?.hidden && 'hidden', `joined ${seconds(Math.max(1, Date.now() / 1000 - joined_at))} ago`].filter(Boolean).join(' · '))
    row.talking.hidden = !speaker
    row.level.hidden = !speaker
    row.level.value = speaker?.level ?? 0
    setDisabled(row.remove, isDisabled)
    row.remove.setAttribute('aria-label', `Remove ${identity}…`)
    row.remove.onclick = () => this.#askToRemove(room, identity)
    const shown = new Set(tracks.map(({ sid }) => sid))
    for (const [sid, track] of row.tracks) {
      if (shown.has(sid)) continue
      track.element.remove()
      row.tracks.delete(sid)
    }
    for (const { sid, source, name: title, muted, mode } of tracks) {
      let track = row.tracks.get(sid)
      if (!track) {
        track = { text: h('span', { class: 'hint', dir: 'auto' }), mute: h('button', { type: 'button', class: 'small' }) }
        track.element = h('li', { class: 'row spread' }, track.text, track.mute)
        row.tracks.set(sid, track)
        row.list.append(track.element)
      }
      setText(track.text, [title || source, title && title !== source && source, mode === 'ahead' && 'ahead', muted && 'muted'].filter(Boolean).join(' · '))
      setText(track.mute, muted ? 'Unmute' : 'Mute')
      track.mute.setAttribute('aria-label', `${muted ? 'Unmute' : 'Mute'} ${identity}, ${title || source}`)
      setDisabled(track.mute, isDisabled)
      track.mute.onclick = () => setMuted(room, sid, !muted, identity)
    }
    row.list.hidden = tracks.length === 0
  }

  #unlock(event) {
    event.preventDefault()
    if (addToken(this.#token.value.trim())) this.#token.value = ''
    this.#token.focus()
  }

  async #askToRemove(room, identity) {
    const agreed = await ask({
      title: `Remove ${identity}?`, text: 'The participant is disconnected at once, and its client does not return by itself. With a valid token it may join again.', action: 'Remove',
    })
    if (agreed) await removeParticipant(room, identity)
  }
}

function createRow() {
  const row = {
    name: h('span', { class: 'person-name', dir: 'auto' }), facts: h('span', { class: 'hint', dir: 'auto' }), talking: h('span', { class: 'pill', 'data-tone': 'busy', text: 'Talking' }),
    connection: h('span', { class: 'pill' }), advice: h('p', { class: 'hint' }), level: h('meter', { min: 0, max: 1, 'aria-label': 'Level' }), remove: h('button', { type: 'button', class: 'small danger', text: 'Remove…' }), list: h('ul', { class: 'tracks' }), tracks: new Map(),
  }
  row.element = h('li', {}, h('div', { class: 'row spread' }, h('span', { class: 'person' }, row.name, row.connection, row.talking, row.level), row.remove), row.facts, row.advice, row.list)
  return row
}

/** Whether a participant is reconnecting or gone, and what to do then. `lostMs`: for how long its connection has been lost; null if it is not. */
function showConnection(row, { kind }, lostMs) {
  row.connection.hidden = row.advice.hidden = lostMs === null
  if (lostMs === null) return
  const isGone = lostMs >= GONE_MS
  row.connection.dataset.tone = isGone ? 'danger' : 'warning'
  setText(row.connection, isGone ? 'Gone' : 'Reconnecting')
  const what = !isGone ? 'It may return at any moment.'
    : kind === 'agent' ? 'Another worker takes over as soon as one is free. If there is none, start one with “patchbay agent start”.'
      : 'Its place is kept for a while. Remove it if it should not return.'
  setText(row.advice, `Its connection was lost ${seconds(Math.max(1, Math.round(lostMs / 1000)))} ago. ${what}`)
}

/** For a shell. */
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

customElements.define('room-panel', RoomPanel)

// The recordings of the shown session: fetched when somebody wants to hear them, then played together. Shared by player and transcript.

import { announce } from '../../shared/announce.js'
import { fetchRecording } from '../model/downloads.js'
import { Player } from '../model/player.js'
import { placeRecordings, positions, readStart, turnAt } from '../model/recording.js'
import { store } from '../model/store.js'

// A turn counts as current from slightly before it begins, so that its first word is heard with its line highlighted.
const EARLY_SECONDS = 0.15

/** Emits `change`, `time`, `line` and `positions`. `state`: idle, loading, ready or failed. */
class Playback extends EventTarget {
  #player = new Player()
  #session = null
  #files = []
  #load = null
  state = 'idle'
  error = null
  line = -1
  positions = null

  constructor() {
    super()
    this.#player.addEventListener('change', () => this.#emit('change'))
    this.#player.addEventListener('time', () => this.#followTime())
    store.subscribe(({ detail, stage, route }) => {
      this.#follow(stage === 'in' ? detail : { id: null, turns: [] })
      if (route.name === 'settings') this.#player.pause()
    })
  }

  get isPlaying() {
    return this.#player.isPlaying
  }

  get time() {
    return this.#player.time
  }

  get duration() {
    return this.#player.duration
  }

  /** `[{name, blob}]`, for saving them. */
  get files() {
    return this.#files
  }

  async toggle() {
    if (this.isPlaying) return this.#player.pause()
    if (await this.load()) this.#play()
  }

  async playFrom(line) {
    if (!(await this.load())) return
    this.#player.seek(this.positions[line])
    this.#play()
    this.#followTime()
  }

  /** Only where the player is shown: the user may have left it while it loaded. */
  #play() {
    if (store.state.route.name !== 'settings') this.#player.play()
  }

  seek(time) {
    this.#player.seek(time)
  }

  setRate(rate) {
    this.#player.setRate(rate)
  }

  /** Fetches all recordings, once. Returns whether they can be played. */
  load() {
    if (this.#load) return this.#load
    const load = this.#fetch(this.#session).then((isDone) => {
      // Another session may be loading by now.
      if (!isDone && this.#load === load) this.#load = null
      return isDone
    })
    return (this.#load = load)
  }

  async #fetch(session) {
    const { recordings } = store.state.detail
    this.#set('loading')
    announce('Loading the recording')
    try {
      const files = await Promise.all(recordings.map(async (name) => {
        const bytes = await fetchRecording(session, name)
        return { name, startedAt: readStart(bytes), blob: new Blob([bytes], { type: 'audio/ogg; codecs=opus' }) }
      }))
      if (session !== this.#session) return false
      this.#files = files
      const { origin, tracks } = placeRecordings(files, store.state.detail.turns)
      this.origin = origin
      await this.#player.load(files.map(({ blob }, index) => ({ blob, offset: tracks[index].offset })))
      if (session !== this.#session) {
        this.#player.close()
        return false
      }
      this.#place(store.state.detail.turns)
      this.#set('ready')
      return true
    } catch (error) {
      if (session !== this.#session) return false
      this.#set('failed', error)
      announce('The recording cannot be played', { isError: true })
      return false
    }
  }

  #follow({ id, turns }) {
    if (id !== this.#session) {
      this.#session = id
      this.#player.close()
      Object.assign(this, { positions: null, origin: null, line: -1 })
      this.#files = []
      this.#load = null
      this.#set('idle')
      this.#emit('positions')
    } else if (this.state === 'ready' && turns.length !== this.positions?.length) {
      this.#place(turns)
    }
  }

  #place(turns) {
    this.positions = this.origin === null ? null : positions(turns, this.origin)
    this.#emit('positions')
  }

  #followTime() {
    this.#emit('time')
    const line = this.positions ? turnAt(this.positions, this.time + EARLY_SECONDS) : -1
    if (line === this.line) return
    this.line = line
    this.#emit('line')
  }

  #set(state, error = null) {
    Object.assign(this, { state, error })
    this.#emit('change')
  }

  #emit(name) {
    this.dispatchEvent(new Event(name))
  }
}

export const playback = new Playback()

// Plays the recordings of a session together: one file for each track, each from its place on the session's timeline.

const TICK_MS = 100
// Tracks further apart than this are aligned. Less is not heard as an echo, because only one of them talks at a time.
const DRIFT_SECONDS = 0.25

/** Emits `change` when something other than the time has changed, and `time`. */
export class Player extends EventTarget {
  #tracks = []
  #timer = 0
  #time = 0
  #at = 0
  #rate = 1
  isPlaying = false
  duration = 0

  get time() {
    return this.#time
  }

  /** `files`: `[{blob, offset}]`, offsets in seconds. Rejects if the browser cannot play a file. */
  async load(files) {
    this.close()
    const tracks = files.map(({ blob, offset }) => ({ audio: new Audio(), offset, url: URL.createObjectURL(blob) }))
    try {
      await Promise.all(tracks.map(open))
    } catch (error) {
      release(tracks)
      throw error
    }
    this.#tracks = tracks
    this.duration = Math.max(0, ...this.#tracks.map(({ audio, offset }) => offset + (Number.isFinite(audio.duration) ? audio.duration : 0)))
    this.#notify()
  }

  /** Call it in the handler of a gesture. */
  play() {
    if (!this.#tracks.length || this.isPlaying) return
    if (this.#time >= this.duration - 0.05) this.#time = 0
    this.isPlaying = true
    this.#at = performance.now()
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#align()
    this.#notify()
  }

  pause() {
    if (!this.isPlaying) return
    this.#tick()
    this.isPlaying = false
    clearInterval(this.#timer)
    for (const { audio } of this.#tracks) audio.pause()
    this.#notify()
  }

  seek(time) {
    this.#time = Math.min(Math.max(0, time), this.duration)
    this.#at = performance.now()
    if (this.isPlaying) this.#align(0)
    this.dispatchEvent(new Event('time'))
  }

  setRate(rate) {
    this.#rate = rate
    for (const { audio } of this.#tracks) audio.playbackRate = rate
  }

  close() {
    this.pause()
    release(this.#tracks)
    this.#tracks = []
    this.#time = this.duration = 0
  }

  /** The clock is the track that plays; between tracks it is the computer's. */
  #tick() {
    const now = performance.now()
    const lead = this.#tracks.find(({ audio, offset }) => !audio.paused && !audio.seeking && this.#covers(audio, offset))
    const passed = this.#time + ((now - this.#at) / 1000) * this.#rate
    this.#time = Math.min(lead ? lead.audio.currentTime + lead.offset : passed, this.duration)
    this.#at = now
    if (this.#time >= this.duration - 0.02) {
      this.#time = this.duration
      this.isPlaying = false
      clearInterval(this.#timer)
      for (const { audio } of this.#tracks) audio.pause()
      this.#notify()
    } else {
      this.#align()
    }
    this.dispatchEvent(new Event('time'))
  }

  #covers(audio, offset) {
    return this.#time >= offset && this.#time < offset + audio.duration
  }

  #align(tolerance = DRIFT_SECONDS) {
    for (const { audio, offset } of this.#tracks) {
      if (!this.#covers(audio, offset)) {
        audio.pause()
        continue
      }
      const expected = this.#time - offset
      if (Math.abs(audio.currentTime - expected) > (audio.paused ? 0 : tolerance)) audio.currentTime = expected
      if (!audio.paused) continue
      audio.playbackRate = this.#rate
      // Refused without a gesture: the button stays, and shows that nothing plays.
      audio.play().catch((error) => error.name === 'NotAllowedError' && this.pause())
    }
  }

  #notify() {
    this.dispatchEvent(new Event('change'))
  }
}

/** Resolves once the browser knows the duration of a track. */
async function open({ audio, url }) {
  audio.preload = 'auto'
  await new Promise((resolve, reject) => {
    audio.onloadedmetadata = resolve
    audio.onerror = () => reject(new Error(audio.error?.message || 'The browser cannot play this file.'))
    audio.src = url
  })
  audio.onerror = null
}

function release(tracks) {
  for (const { audio, url } of tracks) {
    audio.onerror = null
    audio.removeAttribute('src')
    audio.load()
    URL.revokeObjectURL(url)
  }
}

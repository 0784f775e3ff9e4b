// Performs the effects of the state machine: sends one request at a time for each button.

import { GatewayError, content, request, send } from '../shared/http.js'
import { initial, next } from './machine.js'
import { tokenOf } from './tokens.js'

const POLL_MS = 500
// A job continues while the gateway cannot be reached. Polls back off to this interval, and stop after about half a minute.
const POLL_MS_MAX = 5000
const FAILURES_MAX = 8

export class Session {
  state = initial
  #page
  #changed
  #play
  #timer = null
  #failures = 0
  // Resolve once the last request to generate was answered, and once the cancelled job is deleted. A new request waits for both.
  #generation = Promise.resolve()
  #deletion = Promise.resolve()

  /** `page` returns `{base, wish: {text, voice?, …}, tokenProvider}`; `play` receives the id of the clip to play. */
  constructor(page, changed, play) {
    this.#page = page
    this.#changed = changed
    this.#play = play
  }

  dispatch(event) {
    const previous = this.state
    const { state, effects } = next(previous, event)
    this.state = state
    if (state !== previous) this.#changed(state, previous)
    for (const effect of effects) this.#perform(effect)
  }

  /** Stops polling. A job continues, and the next check finds it; a cancelled one is still deleted. */
  stop() {
    clearTimeout(this.#timer)
    const { attempt, cancelled } = this.state
    this.state = { ...initial, attempt: attempt + 1, cancelled }
  }

  /** Returns the audio of a clip. Throws a `GatewayError`. */
  async audio(id) {
    return this.#authorized(async (options) => content(await request('GET', `/v1/speech/${id}/audio`, { ...options, accept: 'audio/ogg' }), (response) => response.blob()))
  }

  unplayable(id, error) {
    if (this.state.clip?.id === id) this.dispatch({ type: 'unplayable', attempt: this.state.attempt, problem: problem(error, 'play') })
  }

  /** @param {import('./machine.js').Effect} effect */
  #perform({ type, attempt, id }) {
    switch (type) {
      case 'check': return this.#ask(attempt, 'check', () => this.#find())
      case 'generate': {
        const earlier = this.#generation
        this.#generation = this.#ask(attempt, 'generate', () => this.#generate(attempt, earlier))
        return
      }
      case 'poll':
        this.#failures = 0
        return this.#pollLater(attempt, id, POLL_MS)
      case 'delete': return this.#delete(id)
      case 'play': return this.#play(id)
    }
  }

  async #ask(attempt, step, answer) {
    try {
      this.dispatch({ attempt, ...(await answer()) })
    } catch (error) {
      this.dispatch({ type: 'refused', attempt, problem: problem(error, step) })
    }
  }

  async #find() {
    // A POST request: proxies log URLs, and a URL cannot contain line breaks.
    const [clip] = await this.#send('POST', '/v1/speech/lookup', this.#wish())
    return { type: 'found', clip: clip ?? null }
  }

  async #generate(attempt, earlier) {
    await earlier
    await this.#deletion
    if (attempt !== this.state.attempt) throw new GatewayError('cancelled', '')
    return { type: 'started', clip: await this.#send('POST', '/v1/speech', this.#wish()) }
  }

  #pollLater(attempt, id, delay) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#poll(attempt, id), delay)
  }

  async #poll(attempt, id) {
    if (attempt !== this.state.attempt) return
    try {
      const clip = await this.#send('GET', `/v1/speech/${id}`)
      this.dispatch({ type: 'polled', attempt, clip })
    } catch (error) {
      const isPassing = error.code === 'connection_failed' || error.status === 429 || error.status >= 500
      if (attempt !== this.state.attempt) return
      if (isPassing && ++this.#failures < FAILURES_MAX) return this.#pollLater(attempt, id, Math.min(POLL_MS * 2 ** this.#failures, POLL_MS_MAX))
      this.dispatch({ type: 'refused', attempt, problem: problem(error, 'generate') })
    }
  }

  /** Deletes a clip. If that fails, the next check finds the clip. */
  #delete(id) {
    const deletion = this.#send('DELETE', `/v1/speech/${id}`).catch(() => {})
    this.#deletion = Promise.all([this.#deletion, deletion]).then(() => {})
  }

  #wish() {
    const { wish } = this.#page()
    if (!wish.text) throw new GatewayError('no_text', '')
    return wish
  }

  #send(method, path, body = null) {
    return this.#authorized((options) => send(method, path, { ...options, body }))
  }

  /** Repeats a request with a new token if the first one has expired. */
  async #authorized(ask) {
    const { base, tokenProvider } = this.#page()
    const token = await tokenOf(tokenProvider)
    try {
      return await ask({ base, token })
    } catch (error) {
      if (error.status !== 401) throw error
      return ask({ base, token: await tokenOf(tokenProvider, token) })
    }
  }
}

const problem = (error, during) => ({ code: error.code ?? 'failed', message: error.message ?? '', during })

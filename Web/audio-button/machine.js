// The button's state machine: takes responses and clicks, and returns the clip's state and effects. Deterministic; `session.js` performs the
// effects.
//
// Each request belongs to an attempt. Responses to earlier attempts are ignored, except that a job whose request was cancelled before the
// response is deleted. `cancelled` is the attempt of that request: there is one at most, because `generate` waits for earlier requests.

/**
 * @typedef {'checking' | 'idle' | 'generating' | 'completed' | 'failed'} View
 * @typedef {'check' | 'generate' | 'play'} Step
 * @typedef {{code: string, message: string, during: Step}} Problem
 * @typedef {{view: View, attempt: number, progress: number, clip: any, problem: Problem | null, cancelled: number | null}} State
 * @typedef {{type: 'check' | 'generate' | 'poll' | 'delete' | 'play', attempt: number, id?: string}} Effect
 * @typedef {{type: string, attempt?: number, clip?: any, problem?: any}} Event
 * @typedef {{state: State, effects: Effect[]}} Next
 */

/** @type {State} */
export const initial = Object.freeze({ view: 'checking', attempt: 0, progress: 0, clip: null, problem: null, cancelled: null })

/**
 * Returns the next state and the effects of an event.
 *
 * - `configured`: the text or its speech options changed. `found` with the clip or null, `started`, `polled`: responses to the effects `check`,
 *   `generate` and `poll`. `refused`, with a `problem`: any of them failed. `unplayable`: the audio could not be loaded.
 * - `pressed`: a click, or a call of the page.
 *
 * @param {State} state
 * @param {Event} event
 * @returns {Next}
 */
export function next(state, event) {
  if (event.type === 'configured') return check(state)
  if (event.type === 'pressed') return press(state)
  if (event.attempt !== state.attempt) return late(state, event)
  switch (event.type) {
    case 'found': return event.clip ? show(state, event.clip, 'idle') : { state: { ...state, view: 'idle' }, effects: [] }
    case 'started': return show(state, event.clip, 'failed')
    case 'polled': return show(state, event.clip, 'failed')
    case 'refused': return fail(state, event.problem)
    case 'unplayable': return state.view === 'completed' ? fail(state, { ...event.problem, during: isGone(event.problem) ? 'generate' : 'play' }) : { state, effects: [] }
  }
  return { state, effects: [] }
}

// The clip no longer exists.
const isGone = ({ code }) => code === 'not_found'

/** @type {(state: State) => Next} */
function check(state) {
  const attempt = state.attempt + 1
  return { state: { ...initial, attempt, cancelled: state.cancelled }, effects: [{ type: 'check', attempt }] }
}

/** @type {(state: State) => Next} */
function press(state) {
  const attempt = state.attempt + 1
  switch (state.view) {
    case 'checking': return { state, effects: [] }
    case 'completed': return { state, effects: [{ type: 'play', attempt: state.attempt, id: state.clip.id }] }
    case 'generating': {
      const id = state.clip?.id
      // Without an id, the response that names the job has not arrived yet.
      return { state: { ...initial, view: 'idle', attempt, cancelled: id ? state.cancelled : state.cancelled ?? state.attempt }, effects: id ? [{ type: 'delete', attempt, id }] : [] }
    }
    case 'failed':
      if (state.problem.during === 'check') return check(state)
      if (state.problem.during === 'play') return { state: { ...state, view: 'completed', problem: null }, effects: [{ type: 'play', attempt: state.attempt, id: state.clip.id }] }
  }
  return { state: { ...initial, view: 'generating', attempt, cancelled: state.cancelled }, effects: [{ type: 'generate', attempt }] }
}

/**
 * - `otherwise`: the view for a clip that has neither audio nor a job.
 *
 * @type {(state: State, clip: any, otherwise: View) => Next}
 */
function show(state, clip, otherwise) {
  switch (clip.status) {
    case 'ready': return { state: { ...state, view: 'completed', progress: 100, clip, problem: null }, effects: [] }
    case 'queued':
    case 'generating': {
      const progress = Math.max(clip.progress, state.progress)
      return { state: { ...state, view: 'generating', progress, clip, problem: null }, effects: [{ type: 'poll', attempt: state.attempt, id: clip.id }] }
    }
    // The same user has cancelled it elsewhere.
    case 'cancelled': return { state: reset(state), effects: [] }
  }
  if (otherwise === 'idle') return { state: { ...state, view: 'idle' }, effects: [] }
  return fail(state, { code: 'generation_failed', message: clip.message ?? '', during: 'generate' })
}

/** @type {(state: State, problem: Problem) => Next} */
function fail(state, problem) {
  // The job no longer exists: it was cancelled elsewhere.
  if (state.view === 'generating' && state.clip && isGone(problem)) return { state: reset(state), effects: [] }
  return { state: { ...state, view: 'failed', progress: 0, problem }, effects: [] }
}

/** @type {(state: State) => State} */
const reset = ({ attempt, cancelled }) => ({ ...initial, view: 'idle', attempt, cancelled })

/** @type {(state: State, event: Event) => Next} */
function late(state, { type, attempt, clip }) {
  if (attempt !== state.cancelled || (type !== 'started' && type !== 'refused')) return { state, effects: [] }
  const settled = { ...state, cancelled: null }
  if (type === 'refused') return { state: settled, effects: [] }
  if (clip.status !== 'ready') return { state: settled, effects: [{ type: 'delete', attempt: state.attempt, id: clip.id }] }
  // The audio existed already: no generation was left to cancel.
  return state.view === 'idle' && state.attempt === attempt + 1 ? show(settled, clip, 'idle') : { state: settled, effects: [] }
}

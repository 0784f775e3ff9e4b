// The button's state machine: what is known of the clip, and what follows from answers and clicks. Deterministic; `session.js` performs the
// effects.
//
// Each request belongs to an attempt. Answers to earlier ones change nothing, except that a job whose cancelled request is answered late is
// deleted.

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
 * What happens next.
 *
 * - `configured`: the text or how it is spoken has changed. `found` with the clip or null, `started`, `polled`, `refused` with a `problem`
 *   answer the effects `check`, `generate`, `poll` and any of them. `unplayable`: the audio could not be loaded.
 * - `pressed`: the user's click, or a call of the page.
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

// A clip that is no longer kept.
const isGone = ({ code }) => code === 'not_found'

/** @type {(state: State) => Next} */
function check(state) {
  const attempt = state.attempt + 1
  return { state: { ...initial, attempt }, effects: [{ type: 'check', attempt }] }
}

/** @type {(state: State) => Next} */
function press(state) {
  const attempt = state.attempt + 1
  switch (state.view) {
    case 'checking': return { state, effects: [] }
    case 'completed': return { state, effects: [{ type: 'play', attempt: state.attempt, id: state.clip.id }] }
    case 'generating': {
      const id = state.clip?.id
      // Without an id, the request for the job has not been answered yet.
      return { state: { ...initial, view: 'idle', attempt, cancelled: id ? null : state.attempt }, effects: id ? [{ type: 'delete', attempt, id }] : [] }
    }
    case 'failed':
      if (state.problem.during === 'check') return check(state)
      if (state.problem.during === 'play') return { state: { ...state, view: 'completed', problem: null }, effects: [{ type: 'play', attempt: state.attempt, id: state.clip.id }] }
  }
  return { state: { ...initial, view: 'generating', attempt }, effects: [{ type: 'generate', attempt }] }
}

/**
 * - `otherwise`: the view of a clip that has neither audio nor a job.
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
    // Elsewhere, by the same user.
    case 'cancelled': return { state: { ...initial, view: 'idle', attempt: state.attempt }, effects: [] }
  }
  if (otherwise === 'idle') return { state: { ...state, view: 'idle' }, effects: [] }
  return fail(state, { code: 'generation_failed', message: clip.message ?? '', during: 'generate' })
}

/** @type {(state: State, problem: Problem) => Next} */
function fail(state, problem) {
  // A job that is gone was cancelled elsewhere.
  if (state.view === 'generating' && state.clip && isGone(problem)) return { state: { ...initial, view: 'idle', attempt: state.attempt }, effects: [] }
  return { state: { ...state, view: 'failed', progress: 0, problem }, effects: [] }
}

/** @type {(state: State, event: Event) => Next} */
function late(state, { type, attempt, clip }) {
  if (type !== 'started' || attempt !== state.cancelled) return { state, effects: [] }
  const settled = { ...state, cancelled: null }
  if (clip.status !== 'ready') return { state: settled, effects: [{ type: 'delete', attempt: state.attempt, id: clip.id }] }
  // It was there already: nothing was generated that could be cancelled.
  return state.view === 'idle' ? show(settled, clip, 'idle') : { state: settled, effects: [] }
}

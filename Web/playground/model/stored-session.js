// Ends the session after a call with an account, and waits for its summary.

import { store } from './store.js'

const INTERVAL_MS = 1500
// The time to wait. A language model may take longer; the page of sessions shows the summary then.
const PATIENCE_MS = 60_000

const note = (values) => store.dispatch('session', { values })
const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration))

/** The state of a stored session's summary: pending, ready, failed or unlogged. Pure. */
export function summaryState({ session, summary }) {
  if (session.logging_enabled_snapshot === false) return 'unlogged'
  if (summary) return 'ready'
  return session.summary_status === 'failed' ? 'failed' : 'pending'
}

/** @param {import('./caller.js').Caller} account */
export async function followSession(account, id) {
  note({ id, state: 'pending', summary: null })
  // If this fails, the session ends with its room.
  await account.endSession(id).catch(() => {})
  const until = Date.now() + PATIENCE_MS
  const isShown = () => store.state.session.id === id
  while (isShown()) {
    const record = await account.session(id).catch((error) => ({ error }))
    if (!isShown()) return
    // The session no longer exists, or the login has ended.
    if (record.error?.status === 401 || record.error?.status === 404) return note({ state: 'gone' })
    const state = record.error ? 'pending' : summaryState(record)
    if (state !== 'pending') return note({ state, summary: record.summary })
    if (Date.now() > until) return note({ state: 'slow' })
    await pause(INTERVAL_MS)
  }
}

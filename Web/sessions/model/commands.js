// What people can do, and what the page loads for them.

import { CallChannel } from '../../patchbay.js'
import { announce } from '../../shared/announce.js'
import { consentChange, needsConsent } from '../../shared/consent.js'
import { GatewayError, content, nextPage, send } from '../../shared/http.js'
import { SessionAccount } from '../../shared/session-account.js'
import { isGrowing } from './state.js'
import { store } from './store.js'

const PAGE_SIZE = 50
const RETRY_MS = [2000, 4000, 8000, 16_000, 30_000]
// How often a session is read again while it grows: at least this, and twenty times what reading it took.
const GROWING_MS = 4000
// Related events, such as the end of a session and its summary, cause only one reload within this time.
const EVENT_PAUSE_MS = 300

/** Who is logged in, or null. */
export let account = null
let retryTimer = 0
let retries = 0
let growTimer = 0
/** @type {CallChannel | null} */
let channel = null
let eventTimer = 0

// MARK: Logging in

export async function initialize() {
  addEventListener('online', reload)
  document.addEventListener('visibilitychange', followVisibility)
  account = SessionAccount.restore()
  followRoute()
  if (!account) return store.dispatch('stage', { stage: 'login' })
  await enter()
}

export const logIn = (email, password) => begin(() => SessionAccount.logIn(email, password))

export async function register(email, password) {
  const isDone = await begin(() => SessionAccount.register(email, password))
  // Then the gateway has sent a code at once.
  if (store.state.stage === 'unconfirmed') store.dispatch('code.sent', { purpose: 'confirmation' })
  return isDone
}

/** Goes on as the user that `makeAccount` returns; what fails becomes the problem `key`. Returns whether it was done. */
export async function begin(makeAccount, key = 'login') {
  store.dispatch('busy', { isBusy: true })
  try {
    account = await makeAccount()
    store.dispatch('problem.remove', { key })
    await enter()
    return true
  } catch (error) {
    store.dispatch('problem.add', { key, code: error.code, message: error.message, retryAfter: error.retryAfter })
    return false
  } finally {
    store.dispatch('busy', { isBusy: false })
  }
}

/** Shows what belongs to the user, or asks for what is missing. */
async function enter() {
  send('GET', '/v1/voices').then(({ voices }) => store.dispatch('voices', { voices: voices ?? [] })).catch(() => {})
  await reload()
}

/** Stores the answer whether conversations are kept, after the first login. Without an answer nothing is kept, and the next login asks again. */
export const answerConsent = (isAllowed) => attempt('consent', async (user) => {
  await change(user, consentChange(isAllowed))
  store.dispatch('stage', { stage: 'in' })
  announce(isAllowed ? 'Your conversations are kept from now on' : 'Your conversations are not kept')
})

export async function logOut() {
  const revoked = account?.logOut().catch(() => {})
  leave()
  announce('Logged out')
  await revoked
}

/** Throws if `user` has logged out: late responses must not appear on the page of the next user. `attempt` and `reload` ignore the error. */
export function expectCurrent(user) {
  if (account !== user) throw new GatewayError('logged_out', 'You are logged out.', { status: 401 })
}

function leave(code) {
  account?.forget()
  account = null
  clearTimeout(retryTimer)
  clearTimeout(growTimer)
  clearTimeout(eventTimer)
  channel?.disconnect()
  channel = null
  store.dispatch('logged-out')
  if (code) store.dispatch('problem.add', { key: 'login', code })
}

// MARK: Loading

/** Loads what the page shows. Repeats itself while the gateway cannot be reached. */
export async function reload() {
  if (!account) return
  clearTimeout(retryTimer)
  const user = account
  try {
    if (!store.state.user) {
      const known = await user.send('GET', '/v1/users/me')
      expectCurrent(user)
      store.dispatch('user', { user: known })
    }
    await Promise.all([loadList(user), loadDetail(user)])
    expectCurrent(user)
    retries = 0
    store.dispatch('problem.remove', { key: 'connection' })
    store.dispatch('stage', { stage: needsConsent(store.state.user) ? 'consent' : 'in' })
    listen(user)
  } catch (error) {
    if (account !== user) return
    if (error.status === 401) return leave('login_expired')
    if (error.code === 'email_unconfirmed') return store.dispatch('stage', { stage: 'unconfirmed' })
    store.dispatch('list.failed')
    store.dispatch('detail.failed', { id: store.state.detail.id })
    store.dispatch('problem.add', { key: 'connection', code: error.code, message: error.message })
    retryTimer = setTimeout(reload, RETRY_MS[Math.min(retries++, RETRY_MS.length - 1)])
  }
}

/** Reloads the list at the user's request. */
export async function refresh() {
  await reload()
  if (store.state.stage === 'in' && !store.state.problems.some(({ key }) => key === 'connection')) announce('The sessions are up to date')
}

/** Opens the channel whose events update the page. The page works without it; each reload tries to open it again. */
function listen(user) {
  if (channel || document.hidden) return
  const opened = (channel = new CallChannel())
  const lost = () => opened === channel && (channel = null)
  channel.on('event', ({ type }) => opened === channel && noteEvent(type))
  channel.on('calls', (calls) => opened === channel && noteCalls(calls))
  channel.on('disconnected', lost)
  channel.connect(null, (options) => user.token(options)).catch(lost)
}

/** Closes the channel of a hidden page: a connected device keeps the gateway from waking the user's phones for calls and summaries. */
function followVisibility() {
  if (document.hidden) stopListening()
  else if (store.state.stage === 'in') reload()
}

function stopListening() {
  channel?.disconnect()
  channel = null
  store.dispatch('problem.remove', { key: 'call' })
}

/** Shows a call that rings here, too, with the way to the page that answers it. */
function noteCalls(calls) {
  const ringing = calls.find(({ direction, state }) => direction === 'incoming' && state === 'connecting')
  const isShown = store.state.problems.some(({ key }) => key === 'call')
  if (!ringing) store.dispatch('problem.remove', { key: 'call' })
  else if (!isShown) store.dispatch('problem.add', { key: 'call', code: 'incoming', name: ringing.callerName })
}

/** Reloads after an event. After `hello`, this includes earlier changes. */
function noteEvent(type) {
  if (type !== 'hello' && !type.startsWith('session.')) return
  clearTimeout(eventTimer)
  eventTimer = setTimeout(() => !document.hidden && reload(), EVENT_PAUSE_MS)
}

async function loadList(user) {
  store.dispatch('list.loading')
  const response = await user.request('GET', `/v1/sessions?limit=${PAGE_SIZE}`)
  const sessions = await content(response, (whole) => whole.json())
  expectCurrent(user)
  store.dispatch('list.loaded', { sessions, next: nextPage(response) })
}

export const loadMore = () => attempt('list', async (user) => {
  const { next } = store.state.list
  store.dispatch('list.loading-more')
  try {
    const response = await user.request('GET', next)
    const sessions = await content(response, (whole) => whole.json())
    expectCurrent(user)
    store.dispatch('list.more', { sessions, next: nextPage(response) })
    announce(`${sessions.length} more sessions`)
  } catch (error) {
    expectCurrent(user)
    store.dispatch('list.failed')
    throw error
  }
})

async function loadDetail(user) {
  const { id } = store.state.route
  clearTimeout(growTimer)
  if (!id) return
  const began = performance.now()
  try {
    const path = `/v1/sessions/${encodeURIComponent(id)}`
    const [record, recordings] = await Promise.all([user.send('GET', path), user.send('GET', `${path}/recordings`).catch((error) => {
      if (error.status !== 404) throw error
      return []
    })])
    expectCurrent(user)
    store.dispatch('detail.loaded', { id, ...record, recordings })
  } catch (error) {
    // Not an id at all is as unknown as another user's.
    if (error.status !== 404 && error.status !== 400) throw error
    expectCurrent(user)
    return store.dispatch('detail.failed', { id, isMissing: true })
  }
  if (isGrowing(store.state.detail)) growTimer = setTimeout(() => !document.hidden && reload(), Math.max(GROWING_MS, 20 * (performance.now() - began)))
}

// MARK: The address: `#/`, `#/sessions/ID`, `#/settings`

export function followRoute() {
  const [, name, part] = location.hash.split('/')
  const id = name === 'sessions' ? decoded(part ?? '') : ''
  const route = id ? { name: 'session', id } : { name: name === 'settings' ? 'settings' : 'list', id: null }
  store.dispatch('route', { route })
  if (account && route.id) reload()
}

/** The text of a part of the address; empty if it is not validly encoded. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

export const addressOf = (id) => `#/sessions/${encodeURIComponent(id)}`

// MARK: Sessions

export const deleteSession = (id) => attempt('session', async (user) => {
  await user.send('DELETE', `/v1/sessions/${encodeURIComponent(id)}`).catch((error) => {
    // It is gone, which was the aim.
    if (error.status !== 404) throw error
  })
  expectCurrent(user)
  store.dispatch('session.deleted', { id })
  location.hash = '#/'
  announce('The session was deleted')
})

export const deleteAllSessions = () => attempt('session', async (user) => {
  await user.send('DELETE', '/v1/sessions')
  expectCurrent(user)
  store.dispatch('sessions.deleted')
  location.hash = '#/'
  announce('All sessions were deleted')
})

// MARK: The account

export const saveSettings = (settings) => attempt('settings', async (user) => {
  await change(user, { settings })
  announce('Settings saved')
})

export const changePassword = (current, next) => attempt('password', async (user) => {
  await user.changePassword(current, next)
  expectCurrent(user)
  announce('Password changed. Other devices are logged out.')
})

async function change(user, changes) {
  const changed = await user.send('PATCH', '/v1/users/me', changes)
  expectCurrent(user)
  store.dispatch('user', { user: changed })
}

export const deleteAccount = () => attempt('export', async (user) => {
  // The gateway closes the channel of a deleted account, and the channel would ask for a new token, which is refused.
  stopListening()
  try {
    await user.send('DELETE', '/v1/users/me')
  } catch (error) {
    if (account === user) listen(user)
    throw error
  }
  expectCurrent(user)
  leave('account_deleted')
})

/** Does something once for the current user, if any; what fails becomes the problem `key`. Returns whether it was done. */
export async function attempt(key, task) {
  const user = account
  store.dispatch('problem.remove', { key })
  store.dispatch('busy', { isBusy: true })
  try {
    await task(user)
    return true
  } catch (error) {
    if (account !== user) return false
    if (error.status === 401 && user && error.code !== 'invalid_code') leave('login_expired')
    else if (error.code === 'email_unconfirmed') store.dispatch('stage', { stage: 'unconfirmed' })
    else store.dispatch('problem.add', { key, code: error.code, message: error.message, retryAfter: error.retryAfter })
    return false
  } finally {
    if (account === user) store.dispatch('busy', { isBusy: false })
  }
}

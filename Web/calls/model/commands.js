// The commands of the page besides calling, and loading its data.

import { checkSupport } from '../../patchbay.js'
import { announce } from '../../shared/announce.js'
import { consentChange, needsConsent } from '../../shared/consent.js'
import { GatewayError, content, nextPage } from '../../shared/http.js'
import { SessionAccount } from '../../shared/session-account.js'
import { phone } from './phone.js'
import { sameAddress, isAddress } from './people.js'
import { store } from './store.js'

const PAGE_SIZE = 50
const RETRY_MS = [2000, 4000, 8000, 16_000, 30_000]

/** The logged-in account, or null. */
let account = null
let retryTimer = 0
let retries = 0

// MARK: Logging in

export async function initialize() {
  followRoute()
  addEventListener('online', () => account && reload())
  phone.onEnded = () => account && loadRecents(account).catch(() => {})
  checkSupport().then(({ audio, reason }) => audio || store.dispatch('problem.add', { key: 'support', code: 'unsupported', message: reason }))
  account = SessionAccount.restore()
  if (!account) return store.dispatch('stage', { stage: 'login' })
  await reload()
}

export async function logIn(email, password) {
  store.dispatch('busy', { isBusy: true })
  try {
    account = await SessionAccount.logIn(email, password)
    store.dispatch('problem.remove', { key: 'login' })
    await reload()
    return true
  } catch (error) {
    store.dispatch('problem.add', { key: 'login', code: error.code, message: error.message, retryAfter: error.retryAfter })
    return false
  } finally {
    store.dispatch('busy', { isBusy: false })
  }
}

/** Stores the answer whether conversations are kept. Until then nothing is kept, and this page is not a device of the user. */
export const answerConsent = (isAllowed) => attempt('consent', async (user) => {
  const changed = await user.send('PATCH', '/v1/users/me', consentChange(isAllowed))
  expectCurrent(user)
  store.dispatch('user', { user: changed })
  enter()
  announce(isAllowed ? 'Your conversations are kept from now on' : 'Your conversations are not kept')
})

function enter() {
  store.dispatch('stage', { stage: 'in' })
  openChannel()
}

export async function logOut() {
  await phone.hangUpAll()
  const revoked = account?.logOut().catch(() => {})
  leave()
  announce('Logged out')
  await revoked
}

/** Throws if `user` has logged out: late responses must not appear on the page of the next user. `attempt` and `reload` ignore the error. */
function expectCurrent(user) {
  if (account !== user) throw new GatewayError('logged_out', 'You are logged out.', { status: 401 })
}

function leave(code) {
  phone.close()
  account?.forget()
  account = null
  clearTimeout(retryTimer)
  store.dispatch('logged-out')
  if (code) store.dispatch('problem.add', { key: 'login', code })
}

// MARK: Loading

/** Loads the page's data and opens the channel. Retries while the gateway cannot be reached. */
export async function reload() {
  clearTimeout(retryTimer)
  const user = account
  if (!user) return
  try {
    if (!store.state.user) {
      const known = await user.send('GET', '/v1/users/me')
      expectCurrent(user)
      store.dispatch('user', { user: known })
    }
    await Promise.all([loadContacts(user), loadRecents(user)])
    expectCurrent(user)
    retries = 0
    store.dispatch('problem.remove', { key: 'connection' })
    if (needsConsent(store.state.user)) store.dispatch('stage', { stage: 'consent' })
    else enter()
  } catch (error) {
    if (account !== user) return
    if (error.status === 401) return leave('login_expired')
    store.dispatch('lists.failed')
    store.dispatch('problem.add', { key: 'connection', code: error.code, message: error.message })
    retryTimer = setTimeout(reload, RETRY_MS[Math.min(retries++, RETRY_MS.length - 1)])
  }
}

/** Opens the channel that makes this page a device of the user. */
export function openChannel() {
  const user = account
  if (user) phone.open((request) => user.token(request), (error) => error.status === 401 && account === user && leave('login_expired'))
}

/** Shows the contacts and returns them. */
async function loadContacts(user) {
  const contacts = []
  let path = '/v1/contacts?limit=200'
  while (path) {
    const response = await user.request('GET', path)
    contacts.push(...await content(response, (whole) => whole.json()))
    path = nextPage(response)
  }
  expectCurrent(user)
  store.dispatch('contacts', { contacts })
  return contacts
}

async function loadRecents(user) {
  store.dispatch('recents', await historyPage(user, `/v1/calls/history?limit=${PAGE_SIZE}`))
}

export const loadMore = () => attempt('connection', async (user) => {
  store.dispatch('recents.more', await historyPage(user, store.state.recents.next))
})

async function historyPage(user, path) {
  const response = await user.request('GET', path)
  const entries = await content(response, (whole) => whole.json())
  expectCurrent(user)
  return { entries, next: nextPage(response) }
}

// MARK: The address: `#/favourites`, `#/recents`, `#/contacts`

export const followRoute = () => store.dispatch('route', { route: location.hash.split('/')[1] ?? '' })

// MARK: Contacts

/** Adds a contact, or replaces the one at `known`. Returns whether it succeeded. */
export async function saveContact({ address, name, favorite }, known = null) {
  const contact = { address: address.trim(), ...(name.trim() && { name: name.trim() }), ...(favorite && { favorite }) }
  const refuse = (code) => (store.dispatch('problem.add', { key: 'contacts', code }), false)
  if (!isAddress(contact.address)) return refuse('invalid_address')
  const isTaken = store.state.contacts.list.some((other) => sameAddress(other.address, contact.address) && other.address !== known)
  if (isTaken) return refuse('known_address')
  return changeContacts((list) => (list.some((other) => other.address === known)
    ? list.map((other) => (other.address === known ? contact : other)) : [...list, contact]))
}

export const removeContact = (address) => changeContacts((list) => list.filter((contact) => contact.address !== address))

export const setFavourite = (address, isFavourite) => changeContacts((list) => list.map((contact) => {
  if (contact.address !== address) return contact
  const { favorite: _, ...rest } = contact
  return isFavourite ? { ...rest, favorite: true } : rest
}))

/** Changes the contacts after reading them again, because another device may have changed them. */
const changeContacts = (change) => attempt('contacts', async (user) => {
  const contacts = change(await loadContacts(user))
  await user.send('PUT', '/v1/contacts', { contacts })
  expectCurrent(user)
  store.dispatch('contacts', { contacts })
})

/** Performs a task once for the current user; an error becomes the problem `key`. Returns whether it succeeded. */
async function attempt(key, task) {
  const user = account
  store.dispatch('problem.remove', { key })
  store.dispatch('busy', { isBusy: true })
  try {
    await task(user)
    return true
  } catch (error) {
    if (account !== user) return false
    if (error.status === 401) leave('login_expired')
    else store.dispatch('problem.add', { key, code: error.code, message: error.message, retryAfter: error.retryAfter })
    return false
  } finally {
    if (account === user) store.dispatch('busy', { isBusy: false })
  }
}

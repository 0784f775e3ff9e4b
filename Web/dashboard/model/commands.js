// What administrators can do, and the loop that asks the gateway how it is.

import { announce } from '../../shared/announce.js'
import { GatewayError, content, request, send } from '../../shared/http.js'
import { OPERATIONS, PastedTokens, developmentAccess, keyAccess } from './access.js'
import { nodeOf, roomOf, withNode } from './addresses.js'
import { readHistory, select } from './figures.js'
import { parseMetrics } from './prometheus.js'
import { INTERVAL_MS, ROOM_INTERVAL_MS, history, store } from './store.js'

// A gateway with thousands of rooms takes longer to answer; asking takes at most a tenth of the time.
const DUTY = 10
const BACK_OFF_MS = 30_000
// The interval at which the gateway samples its history.
const HISTORY_INTERVAL_MS = 10_000

let access = null
let failures = 0
let timer = 0
let round = null
// When figures and the list of rooms are asked for next; the room that is shown is in every round.
let figuresDueAt = 0
// The time of the next request for the gateway's history; 0 after each access, for an immediate request.
let historyDueAt = 0
// The node of a cluster that the samples in `history` are of; null without a cluster.
let sampledNode = null

// MARK: Watching

export async function initialize() {
  document.addEventListener('visibilitychange', () => !document.hidden && watch())
  addEventListener('online', watch)
  followRoute()
  try {
    access = await developmentAccess()
    store.dispatch('access', { access: access ? 'development' : 'none' })
  } catch {
    store.dispatch('access', { access: 'none' })
  }
  watch()
}

/** One round of questions, then a pause. Called in between, it begins a round at once. */
export function watch() {
  return (round ??= ask().finally(() => (round = null)))
}

async function ask() {
  clearTimeout(timer)
  const began = performance.now()
  const name = store.state.room.name
  const isComplete = name === null || began >= figuresDueAt
  const outcomes = await Promise.allSettled([isComplete && readMetrics(), isComplete && readRooms(), isComplete && readOperations(), name !== null && readRoom(name)])
  const faults = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  const isLost = faults.some(({ code }) => code === 'connection_failed')
  for (const fault of faults) if (!(fault instanceof GatewayError)) console.error(fault)
  if (isLost) {
    failures++
    store.dispatch('metrics.failed', { metrics: 'unreachable' })
    store.dispatch('problem.add', { key: 'gateway', code: 'connection_failed' })
  } else {
    failures = 0
    store.dispatch('problem.remove', { key: 'gateway' })
  }
  const took = performance.now() - began
  if (isComplete) figuresDueAt = began + Math.max(INTERVAL_MS, DUTY * took) - ROOM_INTERVAL_MS / 2
  const pause = name === null ? Math.max(INTERVAL_MS - took, DUTY * took - INTERVAL_MS, INTERVAL_MS / 4) : Math.max(ROOM_INTERVAL_MS - took, ROOM_INTERVAL_MS / 4)
  // The first failure is often a restart, so the page asks again soon.
  timer = setTimeout(watch, isLost ? Math.min(INTERVAL_MS * 2 ** (failures - 1), BACK_OFF_MS) : pause)
}

async function readMetrics() {
  // A load balancer passes each request for /metrics on to another node.
  if (sampledNode !== null) return followHistory()
  let text
  try {
    text = await content(await request('GET', '/metrics', { accept: 'text/plain' }), (response) => response.text())
  } catch (error) {
    if (error.code === 'connection_failed') throw error
    // 404 from the gateway, 403 from a proxy.
    return followHistory()
  }
  const metrics = parseMetrics(text)
  const values = select(metrics)
  if (values.size === 0) return followHistory()
  await restoreHistory()
  if (sampledNode !== null) return
  push(Date.now(), values)
  store.dispatch('metrics.sampled', { version: metrics.get('patchbay_build_info')?.[0].labels.version ?? '' })
}

/** Fills the plots from the gateway's history, once after each access. */
async function restoreHistory() {
  if (!access || historyDueAt > 0) return
  const node = sampledNode
  const { samples } = await askForHistory(0)
  if (node !== sampledNode) return
  historyDueAt = Infinity
  if (samples?.length) history.backfill(samples)
}

/** Updates the plots from the gateway's history, in a cluster and if `/metrics` is not published. */
async function followHistory() {
  if (performance.now() < historyDueAt && historyDueAt !== Infinity) return
  const node = sampledNode
  const { samples, metrics } = access ? await askForHistory(history.lastTime ?? 0) : { samples: null, metrics: 'hidden' }
  // Another one has been chosen meanwhile.
  if (node !== sampledNode) return
  if (access) historyDueAt = performance.now() + HISTORY_INTERVAL_MS
  if (!samples) return store.dispatch('metrics.failed', { metrics })
  for (const { time, values } of samples) push(time, values)
  store.dispatch('metrics.restored', { metrics: 'live' })
}

/**
 * Returns `{samples, metrics}`, in a cluster those of the chosen node. Null if there are none, with the reason: hidden (the token does not
 * suffice, or the gateway has no history), ended or unreachable (the node does not run, or does not answer).
 */
async function askForHistory(after) {
  const node = sampledNode
  try {
    return { samples: readHistory(await administer(OPERATIONS, 'GET', `/v1/operations/history?after=${Math.floor(after)}${nodeQuery('&', node)}`)), metrics: 'live' }
  } catch (error) {
    if (error.code === 'connection_failed') throw error
    return { samples: null, metrics: node === null ? 'hidden' : error.code === 'node_not_found' ? 'ended' : 'unreachable' }
  }
}

const nodeQuery = (sign, name) => (name === null ? '' : `${sign}node=${encodeURIComponent(name)}`)

function push(time, values) {
  const start = 'process_start_time_seconds'
  if (history.latest(start) !== null && values.get(start) !== history.latest(start)) history.noteRestart()
  history.push(time, values)
}

async function readOperations() {
  if (!access) return
  // Requests of one page may reach different nodes; the first one that answers is shown until another one is chosen.
  const { chosen, shown } = store.state.nodes
  const wanted = chosen ?? shown
  const ask = (name) => administer(OPERATIONS, 'GET', `/v1/operations${nodeQuery('?', name)}`)
  try {
    let isMissing = false
    const view = await ask(wanted).catch((error) => {
      if (error.code !== 'node_not_found' || wanted === null) throw error
      isMissing = true
      return ask(null)
    })
    if (store.state.nodes.chosen !== chosen) return
    if (isMissing && chosen !== null && view.nodes) store.dispatch('node.missing', { name: chosen, nodes: view.nodes })
    else store.dispatch('operations.loaded', { view })
    followNode()
  } catch (error) {
    if (error.code !== 'no_token' && error.code !== 'not_found') throw error
    store.dispatch('operations.failed', { value: error.code === 'no_token' ? 'locked' : 'absent' })
  }
}

/** Begins anew with the samples if they are of another node than the one that is shown. */
function followNode() {
  const { items, shown } = store.state.nodes
  const name = items ? shown : null
  if (name === sampledNode) return
  sampledNode = name
  historyDueAt = 0
  history.clear()
  store.dispatch('metrics.restored')
}

async function readRooms(used = access) {
  if (!used) return
  const { rooms } = (await administer(null, 'GET', '/v1/rooms', undefined, used).catch((error) => {
    if (error.code !== 'no_token') throw error
    store.dispatch('rooms.locked')
    return {}
  }))
  if (rooms) store.dispatch('rooms.loaded', { rooms })
}

async function readRoom(name) {
  if (!access) return
  const path = pathOf(name)
  try {
    const [detail, log] = await Promise.all([administer(name, 'GET', path), administer(name, 'GET', `${path}/events`).catch((error) => {
      // An older gateway behind the same address has no log.
      if (error.code !== 'not_found') throw error
      return null
    })])
    store.dispatch('room.loaded', { name, detail, log })
  } catch (error) {
    if (error.code === 'room_not_found') store.dispatch('room.gone', { name })
    else if (error.code === 'no_token') store.dispatch('room.locked', { name })
    else throw error
  }
}

const pathOf = (name) => `/v1/rooms/${encodeURIComponent(name)}`

/** Sends a request with a token for a room, for the list of rooms, or for operations. A refused token is replaced once; if that fails, access ends. */
async function administer(room, method, path, body, used = access) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(method, path, { body, token: await used.token(room) })
    } catch (error) {
      if (used !== access) throw error
      const isTokenRefused = error.status === 401 || error.code === 'missing_grant' || error.code === 'too_many_attempts'
      if (!isTokenRefused) throw error
      used.forget()
      if (attempt === 1 && error.status === 401 && !(used instanceof PastedTokens)) continue
      close({ code: error.code, message: error.message })
      throw error
    }
  }
}

// MARK: Access

function close(problem) {
  access = null
  store.dispatch('access', { access: 'none' })
  followNode()
  if (problem) store.dispatch('problem.add', { key: 'access', isNew: true, ...problem })
}

export const useKey = (issuer, secret) => open('key', () => keyAccess(issuer, secret))

export const useToken = (token) => open('token', async () => {
  const tokens = new PastedTokens()
  tokens.add(token)
  return tokens
})

async function open(mode, make) {
  store.dispatch('problem.remove', { key: 'access' })
  store.dispatch('busy', { isBusy: true })
  try {
    const made = await make()
    // Only a token that the gateway has accepted is used by other requests.
    await readRooms(made)
    access = made
    historyDueAt = 0
    store.dispatch('access', { access: mode })
    watch()
    return true
  } catch (error) {
    close({ code: error.code, message: error.message })
    return false
  } finally {
    store.dispatch('busy', { isBusy: false })
  }
}

/** A further token, for one room. */
export function addToken(token) {
  store.dispatch('problem.remove', { key: 'room' })
  try {
    const video = access.add(token)
    if (video.room !== store.state.room.name) throw new GatewayError('other_room', `This token is for the room “${video.room}”.`)
    watch()
    return true
  } catch (error) {
    store.dispatch('problem.add', { key: 'room', code: error.code, message: error.message, isNew: true })
    return false
  }
}

export function endAccess() {
  close()
  location.hash = '#/'
  announce('The page knows no token any more')
}

// MARK: Nodes

/** Shows another node of the cluster. */
export function chooseNode(name) {
  globalThis.history.pushState(null, '', withNode(location.href, name))
  showNode(name)
}

function showNode(name) {
  if (name === store.state.nodes.chosen) return
  store.dispatch('node.choose', { name })
  followNode()
  figuresDueAt = 0
  if (access) round?.then(watch) ?? watch()
}

// MARK: Rooms

export function followRoute() {
  const name = roomOf(location.hash)
  showNode(nodeOf(location.search))
  store.dispatch('problem.remove', { key: 'room' })
  store.dispatch('room.show', { name })
  if (name !== null && access) readRoom(name).catch(() => {})
}

export const setMuted = (room, track, muted, identity) => change(room, async () => {
  await administer(room, 'PATCH', `${pathOf(room)}/tracks/${encodeURIComponent(track)}`, { muted })
  announce(`${identity} is ${muted ? 'muted' : 'unmuted'}`)
})

export const removeParticipant = (room, identity) => change(room, async () => {
  await administer(room, 'DELETE', `${pathOf(room)}/participants/${encodeURIComponent(identity)}`)
  announce(`${identity} was removed`)
})

async function change(room, task) {
  store.dispatch('problem.remove', { key: 'room' })
  store.dispatch('busy', { isBusy: true })
  try {
    await task()
    return true
  } catch (error) {
    store.dispatch('problem.add', { key: 'room', code: error.code, message: error.message, isNew: true })
    return false
  } finally {
    store.dispatch('busy', { isBusy: false })
    await readRoom(room).catch(() => {})
  }
}

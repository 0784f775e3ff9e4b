// What people can do: each command is a function, named in buttons and in the actions of problems.

import { checkSupport, listDevices } from '../../patchbay.js'
import { needsConsent } from '../../shared/consent.js'
import { describeAssistant, developmentAssistants, developmentSession, listVoices } from '../../shared/gateway.js'
import { call } from './call.js'
import { Caller } from './caller.js'
import { microphoneCheck } from './device-check.js'
import { recorder } from './recorder.js'
import { store } from './store.js'
import { followSession } from './stored-session.js'

// The built-in one.
const DEFAULT_ASSISTANT = 'default'
// The time after which a gateway that has not responded is reported as slow.
const SLOW_START_MS = 4000

/** @type {Caller | null} */
let account = null
// The user, as last read from the gateway.
let user = null
// The id of the session of the account's call, or null.
let openSession = null
// What `call.again` repeats.
let lastStart = null
// Only the response to the latest one counts.
let lookUps = 0

export const commands = {
  'call.again': () => lastStart && startCall(lastStart),
  'call.leave': () => {
    if (store.state.room.state !== 'connecting') return call.leave()
    call.close()
    store.dispatch('call.failed')
  },
  'call.close': () => {
    recorder.discard()
    call.close()
    store.dispatch('start.show')
  },
  'audio.start': () => call.startAudio(),
  'microphone.enable': () => call.enableMicrophone(),
}

/** What the page learns before the first call. */
export async function initialize() {
  const [support, session, voices] = await Promise.all([
    checkSupport(), developmentSession().catch(() => null), listVoices().catch(() => []), restore(),
  ])
  store.dispatch('support', { support })
  if (!support.audio) store.dispatch('problem.add', { key: 'support', code: support.code, message: support.reason })
  store.dispatch('start.voices', { voices })
  if (session) store.dispatch('start.assistants', { mode: 'development', assistants: await developmentAssistants().catch(() => []) })
  store.dispatch('start.development', { isAvailable: session !== null })
  await refreshDevices()
  navigator.mediaDevices?.addEventListener('devicechange', refreshDevices)
}

export async function refreshDevices() {
  const { speaker } = store.state.devices
  store.dispatch('devices', await listDevices().catch(() => ({ microphones: [], speakers: [] })))
  if (speaker && !store.state.devices.speaker) await call.setSpeaker('')
}

/** Loads the name and the default voice of an assistant whose id was typed. */
export async function lookUpAssistant(id) {
  const number = ++lookUps
  const assistant = await describeAssistant(id).catch((error) => ({ id, isMissing: error.code === 'assistant_not_found' }))
  if (number === lookUps) store.dispatch('start.assistant', { assistant })
}

// MARK: Calls

/**
 * `start`: `{mode: 'development' | 'account' | 'token', assistant?, voice?, token?}`. Without `voice`, an account keeps its saved one; an empty
 * `voice` is the assistant's. Call it in the handler of a gesture.
 */
export function startCall(start) {
  lastStart = start
  if (start.mode === 'account' && user && needsConsent(user)) return store.dispatch('consent.ask')
  return begin(start)
}

/** Answers whether conversations are kept, before the first call with an account. Call it in the handler of a gesture, because it starts the call. */
export const answerConsent = (isAllowed) => begin(lastStart, isAllowed)

/** Leaves the question without an answer: nothing is kept, and the next call asks again. */
export const leaveConsent = () => store.dispatch('start.show')

/** Starts a call. `isAllowed`: an answer to store first, or null. */
async function begin(start, isAllowed = null) {
  recorder.discard()
  microphoneCheck.stop()
  const room = call.prepare()
  store.dispatch('call.begin', { mode: start.mode })
  const slow = setTimeout(() => room === call.room && store.dispatch('problem.add', { key: 'stall', code: 'connecting' }), SLOW_START_MS)
  const caller = account
  let session = null
  let key = 'consent'
  openSession = null
  try {
    if (isAllowed !== null) user = await account.answerConsent(isAllowed)
    key = 'start'
    const access = await admission(start)
    session = access.session ?? null
    if (room === call.room) openSession = session
    await call.connect(room, access, () => noStall(slow))
    if (room !== call.room) return abandon(caller, session)
    await refreshDevices()
  } catch (error) {
    abandon(caller, session)
    // The user has given up, or started another call.
    if (room !== call.room) return
    call.close()
    store.dispatch('call.failed')
    store.dispatch('problem.add', { key, code: error.code, message: error.message })
  } finally {
    noStall(slow)
  }
}

/** Ends the session of a call that was not reached. If this fails, the session ends with its room. */
function abandon(caller, session) {
  if (session === null) return
  if (openSession === session) openSession = null
  caller.endSession(session).catch(() => {})
}

function noStall(timer) {
  clearTimeout(timer)
  if (store.state.problems.some(({ key, code }) => key === 'stall' && code === 'connecting')) store.dispatch('problem.remove', { key: 'stall' })
}

async function admission({ mode, assistant, voice, token }) {
  if (mode === 'token') return { url: null, token }
  if (mode === 'development') return (await developmentSession(assistant, undefined, voice)) ?? Promise.reject(new Error('The gateway no longer offers calls without login.'))
  if (voice !== undefined && voice !== (user?.settings?.voice ?? '')) user = await account.setVoice(voice)
  return account.startSession(assistant ?? DEFAULT_ASSISTANT)
}

/** Ends the session of an account's call, so that its history is complete, and waits for its summary. */
export async function endSession() {
  const session = openSession
  openSession = null
  if (session && account) await followSession(account, session)
}

export function chooseDevice(kind, id) {
  store.dispatch('devices.chosen', { kind, id })
  if (kind === 'speaker') return call.setSpeaker(id)
  if (store.state.check.state === 'on') return microphoneCheck.start(id)
  return store.state.microphone.state === 'on' ? call.enableMicrophone() : undefined
}

export async function testMicrophone() {
  if (store.state.check.state === 'on') return microphoneCheck.stop()
  await microphoneCheck.start(store.state.devices.microphone)
  // The browser reveals the names of devices now.
  await refreshDevices()
}

// MARK: Accounts

/** Restores the login of a previous page, if there is one. */
async function restore() {
  const restored = Caller.restore()
  if (!restored) return
  try {
    await enter(restored)
  } catch (error) {
    if (error.status !== 401) store.dispatch('problem.add', { key: 'start', code: error.code, message: error.message })
  }
}

/** Returns the user's voice, or null if the login failed. */
export async function logIn(email, password) {
  store.dispatch('start.busy', { isBusy: true })
  try {
    await enter(/** @type {Caller} */ (await Caller.logIn(email, password)))
    store.dispatch('problem.remove', { key: 'start' })
    return user.settings?.voice ?? ''
  } catch (error) {
    store.dispatch('problem.add', { key: 'start', code: error.code, message: error.message })
    return null
  } finally {
    store.dispatch('start.busy', { isBusy: false })
  }
}

async function enter(caller) {
  const [known, assistants] = await Promise.all([caller.user(), caller.assistants().catch(() => [])])
  account = caller
  user = known
  store.dispatch('start.assistants', { mode: 'account', assistants })
  store.dispatch('start.account', { email: known.email, voice: known.settings?.voice ?? '' })
}

export async function logOut() {
  const caller = account
  account = user = null
  store.dispatch('start.account', { email: null })
  await caller?.logOut().catch(() => {})
}

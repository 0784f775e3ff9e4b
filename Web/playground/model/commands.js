// What people can do: each command is a function, named in buttons and in the actions of problems.

import { checkSupport, listDevices } from '../../patchbay.js'
import { authenticate } from '../../shared/account.js'
import { describeAssistant, developmentSession, listVoices } from '../../shared/gateway.js'
import { call } from './call.js'
import { Caller } from './caller.js'
import { recorder } from './recorder.js'
import { store } from './store.js'

// The built-in one.
const DEFAULT_ASSISTANT = 'default'

let account = null
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
    checkSupport(), developmentSession().catch(() => null), listVoices().catch(() => []),
  ])
  if (!support.audio) store.dispatch('problem.add', { key: 'support', message: support.reason })
  store.dispatch('start.voices', { voices })
  store.dispatch('start.development', { isAvailable: session !== null })
  await refreshDevices()
  navigator.mediaDevices?.addEventListener('devicechange', refreshDevices)
}

export async function refreshDevices() {
  const { speaker } = store.state.devices
  store.dispatch('devices', await listDevices().catch(() => ({ microphones: [], speakers: [] })))
  if (speaker && !store.state.devices.speaker) await call.setSpeaker('')
}

/** Shows an assistant's name and own voice beside its id. */
export async function lookUpAssistant(id) {
  const number = ++lookUps
  const assistant = await describeAssistant(id).catch((error) => ({ id, isMissing: error.code === 'assistant_not_found' }))
  if (number === lookUps) store.dispatch('start.assistant', { assistant })
}

/** `start`: `{mode: 'development' | 'account' | 'token', assistant?, voice?, token?}`. Call it in the handler of a gesture. */
export async function startCall(start) {
  lastStart = start
  recorder.discard()
  const room = call.prepare()
  store.dispatch('call.begin', { mode: start.mode })
  try {
    await call.connect(room, await admission(start))
    await refreshDevices()
  } catch (error) {
    // The user has given up, or started another call.
    if (room !== call.room) return
    call.close()
    store.dispatch('call.failed')
    store.dispatch('problem.add', { key: 'start', code: error.code, message: error.message })
  }
}

async function admission({ mode, assistant, voice, token }) {
  if (mode === 'token') return { url: null, token }
  if (mode === 'development') return (await developmentSession(assistant)) ?? Promise.reject(new Error('The gateway no longer offers calls without login.'))
  await account.setVoice(voice)
  openSession = await account.startSession(assistant ?? DEFAULT_ASSISTANT)
  return openSession
}

/** Ends the session of an account's call, so that its history is complete. */
export async function endSession() {
  const session = openSession?.session
  openSession = null
  if (session) await account?.endSession(session).catch(() => {})
}

/** Returns the user's voice. */
export async function logIn(email, password) {
  store.dispatch('start.busy', { isBusy: true })
  try {
    account = new Caller(await authenticate(email, password))
    const voice = await account.voice()
    store.dispatch('start.account', { email })
    store.dispatch('problem.remove', { key: 'start' })
    return voice
  } catch (error) {
    store.dispatch('problem.add', { key: 'start', code: error.code, message: error.message })
    return null
  } finally {
    store.dispatch('start.busy', { isBusy: false })
  }
}

export async function logOut() {
  await account?.logOut().catch(() => {})
  account = null
  store.dispatch('start.account', { email: null })
}

export function chooseDevice(kind, id) {
  store.dispatch('devices.chosen', { kind, id })
  if (kind === 'speaker') return call.setSpeaker(id)
  return store.state.microphone.state === 'on' ? call.enableMicrophone() : undefined
}

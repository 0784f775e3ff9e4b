// What the widget says, in the language of the page or of the assistant: its status, and each problem as a title, what it means and what to do
// next. `actions` are labels and names of commands.

import { consentTexts } from '../../shared/consent.js'
import { primary, supported } from '../../shared/languages.js'
import { de } from '../texts/de.js'
import { en } from '../texts/en.js'
import { es } from '../texts/es.js'
import { fr } from '../texts/fr.js'
import { agentStatus } from './machine.js'

export const tables = { de, en, es, fr }

/** The language tag of the widget's own texts: the page's, otherwise the assistant's, if there is a table for it. */
export const languageOf = ({ language, definition }) => supported(language) ?? supported(definition?.language) ?? 'en'

/** The table of the widget's own texts. */
export const textsOf = (state) => tables[primary(languageOf(state))]

/** The language tag of a text that may be the assistant's own; empty if it is in the widget's language. */
export function foreignLanguage({ language, definition }, text) {
  return isOfAssistant({ definition }, text) && definition.language !== languageOf({ language, definition }) ? definition.language : ''
}

function isOfAssistant({ definition }, text) {
  const own = definition ? [definition.startText, definition.thinkingText, definition.interruptText, ...definition.quickCommands] : []
  return text !== '' && own.includes(text)
}

/** The name to show; never empty. */
export const nameOf = (state) => state.call.agent?.name || state.definition?.name || textsOf(state).assistant

/** The name within a sentence. One in the other direction is isolated (U+2068, U+2069), so that the sentence keeps its order. */
export const nameInSentence = (state) => isolated(nameOf(state))

const isolated = (name) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name)

/** The direction of a text: the widget's own languages are written from left to right, the assistant's texts may have any. */
export const directionOf = (state, text) => (isOfAssistant(state, text) ? 'auto' : 'ltr')

/** One line that tells what happens now; empty while the widget is not wanted. */
export function statusText(state) {
  const { view, call, definition } = state
  const { status } = textsOf(state)
  if (view === 'idle') return ''
  if (view === 'loading') return status.loading
  if (view === 'error') return status.unavailable
  if (call.phase === 'none') return status.ready
  if (call.phase === 'connecting') return status.connecting
  if (call.phase === 'reconnecting') return status.reconnecting
  if (call.wait && !call.agent) return call.wait === 'no_worker' ? status.unstaffed : status.busy
  if (call.absence === 'lost') return status.gone(nameInSentence(state))
  if (!call.agent) return call.absence === 'left' ? status.ended : status.waiting(nameInSentence(state))
  if (call.agent.isAway) return status.returning(nameInSentence(state))
  const { microphone } = call
  const isOn = microphone.state === 'on' && call.soundBlockage === null
  const isHeard = isOn && !microphone.isMuted
  const does = agentStatus(state)
  if (does === 'initializing') return status.initializing(nameInSentence(state))
  if (does === 'error') return status.failed(nameInSentence(state))
  if (does === 'thinking') return call.tools.length ? status.working(toolName(call.tools.at(-1))) : definition.thinkingText || status.thinking
  if (does === 'waiting') return isHeard ? definition.interruptText || status.interruptible : status.speaking
  if (microphone.state === 'prompted') return status.prompted
  if (isOn) return microphone.isMuted ? status.muted : status.listening
  return ['failed', 'on', 'unasked'].includes(microphone.state) ? status.typing : status.moment
}

const toolName = ({ name }) => name.replace(/[_-]+/g, ' ')

// What can be done about a problem; otherwise trying again.
const commands = {
  no_assistant: [], no_token: ['close'], origin_not_allowed: ['retry', 'close'],
  DUPLICATE_IDENTITY: ['takeOver', 'close'], PARTICIPANT_REMOVED: ['close'],
}

/** The problem of the view `error`: `{title, text, actions}`. */
export function describeProblem(state) {
  const { kind, code, message, closeCode, hadBegun } = state.problem
  const { problems, kinds, closings, actions } = textsOf(state)
  const isKnown = Object.hasOwn(problems, code)
  const { title, text } = isKnown ? problems[code] : kinds[hadBegun ? 'lost' : kind]
  const names = (isKnown && commands[code]) || (kind === 'initialization' ? ['retry'] : ['retry', 'close'])
  return { title, text: typeof text === 'function' ? text(closings[closeCode] ?? message) : text, actions: labelled(actions, ...names) }
}

const labelled = (actions, ...names) => names.map((name) => ({ label: actions[name], command: name === 'takeOver' ? 'retry' : name }))

/** What hinders the call without ending it: `{key, severity, text, actions}`, the most important first. */
export function describeNotices(state) {
  const { call } = state
  const found = []
  if (call.phase === 'none' || call.phase === 'connecting') return found
  const { notices, microphone: faults, actions } = textsOf(state)
  const add = (key, severity, text, ...names) => found.push({ key, severity, text, actions: labelled(actions, ...names) })
  const name = nameInSentence(state)
  if (call.phase === 'reconnecting') add('connection', 'warning', notices.reconnecting)
  const isWaiting = call.wait !== null && call.agent === null
  if (isWaiting) add('agent', 'info', call.wait === 'no_worker' ? notices.unstaffed : notices.busy, 'stop')
  else if (call.absence === 'missing') add('agent', 'warning', notices.missing(name), 'restart', 'stop')
  else if (call.absence === 'lost') add('agent', 'warning', notices.lost(name), 'restart', 'stop')
  else if (call.absence === 'left') add('agent', 'info', notices.left(name), 'restart', 'stop')
  else if (agentStatus(state) === 'error') add('agent', 'warning', notices.failed(name), 'restart', 'stop')
  // If the browser cannot play at all, the microphone's notice says so.
  if (call.soundBlockage && call.soundBlockage !== 'unsupported') {
    add('sound', 'warning', call.soundBlockage === 'no_output' ? notices.noOutput : notices.soundBlocked, 'startAudio')
  }
  const { microphone, isTyping } = call
  if (microphone.state === 'prompted') add('microphone', 'info', notices.prompted, 'typeInstead')
  if (microphone.state === 'unasked') add('microphone', 'info', faults.unasked.off, 'enableMicrophone')
  if (microphone.state === 'failed') {
    const isLasting = lastingFaults.includes(microphone.code)
    const choices = [...(isLasting ? [] : ['retryMicrophone']), ...(isTyping ? [] : ['typeInstead'])]
    const isKnown = isLasting || ['permission_denied', 'not_found', 'in_use', 'ended'].includes(microphone.code)
    const text = isKnown ? faults[microphone.code] : faults.failed(microphone.message).replace('  ', ' ')
    add('microphone', isTyping ? 'info' : 'warning', text, ...choices)
  }
  if (call.pendingTexts.length) add('queued', 'info', notices.queued(name))
  if (call.closesAt !== null) add('closing', 'warning', notices.closing(timeOfDay(call.closesAt, languageOf(state))))
  if (call.refusal) add('refusal', 'warning', notices.refused(call.refusal))
  if (call.isRecorded) add('recording', 'info', notices.recorded)
  return found
}

/** The notice while a call is logged; otherwise empty. */
export const loggedText = (state) => (state.call.isLogged ? consentTexts[primary(languageOf(state))].logged : '')

/** The texts of the consent question, `{title, text, points, later, actions}`. */
export function describeConsent(state) {
  const { allow, deny, ...texts } = consentTexts[primary(languageOf(state))]
  return { ...texts, actions: [{ label: allow, command: 'allowLogging' }, { label: deny, command: 'denyLogging' }] }
}
// Faults of the microphone for which retrying does not help.
const lastingFaults = ['unsupported', 'insecure_page', 'no_decoder', 'no_encoder']

const timeOfDay = (time, language) => new Date(time).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' })

/** What the screen of the microphone says, `{title, text, steps, actions}`: where it is blocked, the steps lead to the browser's setting of this page. */
export function describeMicrophone(state, userAgent = navigator.userAgent) {
  const { microphone: { title, text, unasked }, steps, actions } = textsOf(state)
  const choices = (command) => [{ label: actions.enableMicrophone, command }, { label: actions.notNow, command: 'typeInstead' }]
  if (state.call.microphone.state === 'unasked') return { title, text: unasked.text, steps: [], actions: choices('enableMicrophone') }
  return { title, text, steps: [...steps[browser(userAgent)], steps.last], actions: choices('retryMicrophone') }
}

function browser(userAgent) {
  if (/iPhone|iPad/.test(userAgent)) return 'ios'
  if (/Android/.test(userAgent)) return 'android'
  if (/Firefox\//.test(userAgent)) return 'firefox'
  return /Edg\/|Chrome\//.test(userAgent) ? 'chromium' : 'safari'
}

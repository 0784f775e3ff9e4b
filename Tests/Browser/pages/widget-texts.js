// Compares the widget's tables of texts, and says in which language a state speaks. No network.

import { initialState } from '/web/widget/model/machine.js'
import { describeNotices, describeProblem, foreignLanguage, languageOf, nameOf, statusText, tables, textsOf } from '/web/widget/model/texts.js'
import { newCall } from '/web/widget/model/conversation.js'

/** `{path: value}` of all texts and functions. */
function flatten(table, path = '') {
  if (typeof table !== 'object') return { [path]: table }
  return Object.assign({}, ...Object.entries(table).map(([key, value]) => flatten(value, path ? `${path}.${key}` : key)))
}

/** What differs from English: keys, kinds of values, and values that a sentence leaves out. */
export function tableFaults() {
  const found = []
  const english = flatten(tables.en)
  for (const [language, table] of Object.entries(tables)) {
    const texts = flatten(table)
    for (const key of Object.keys(english)) if (!(key in texts)) found.push(`${language}: no ${key}`)
    for (const [key, value] of Object.entries(texts)) {
      const fault = faultOf(value, english[key])
      if (fault) found.push(`${language}: ${key} ${fault}`)
    }
  }
  return found
}

function faultOf(value, english) {
  if (english === undefined) return 'is not in English'
  if (typeof value !== typeof english) return `is a ${typeof value}`
  if (typeof value === 'string') return value.trim() === '' ? 'is empty' : null
  if (value.length !== english.length) return `takes ${value.length} values`
  const values = Array.from({ length: value.length }, (_, index) => `[value ${index}]`)
  const sentence = value(...values)
  if (values.some((one) => !sentence.includes(one))) return 'leaves out a value'
  return /undefined|null|\(\)/.test(value(...values.map(() => ''))) ? 'shows an empty value' : null
}

export const count = () => Object.keys(flatten(tables.en)).length

/** The language for `[page, assistant]`. */
export const choose = (page, assistant) => languageOf({ language: page, definition: assistant === null ? null : { language: assistant } })

/** All sentences of a call in trouble, in a language: none may be another language's. */
export function sentences(language) {
  const definition = { name: '', language: 'en', startText: 'Call us', thinkingText: '', interruptText: '', quickCommands: ['Hello'] }
  const state = { ...initialState, language, definition }
  const call = {
    ...newCall, phase: 'connected', absence: 'missing', isSoundBlocked: true, closesAt: Date.UTC(2026, 0, 1, 15, 5), refusal: 'x', isRecorded: true,
    microphone: { state: 'failed', code: 'in_use', message: '', isMuted: false },
  }
  const problem = { kind: 'connection', code: 'SIGNAL_CLOSE', message: 'The connection is too slow.', closeCode: 4002, hadBegun: true }
  const inCall = { ...state, view: 'expanded', call }
  return {
    status: statusText(inCall), name: nameOf(inCall), notices: describeNotices(inCall).flatMap(({ text, actions }) => [text, ...actions.map(({ label }) => label)]),
    problem: Object.values(describeProblem({ ...state, view: 'error', problem })).flat().map((part) => part.label ?? part),
    retry: textsOf(state).actions.retry, foreign: ['Call us', 'Hello', 'Listening'].map((text) => foreignLanguage(state, text)),
  }
}

// The widget's texts: all languages say the same, and a state speaks one of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialState } from '../../../Web/widget/model/machine.js'
import { newCall } from '../../../Web/widget/model/conversation.js'
import {
  describeMicrophone, describeNotices, describeProblem, directionOf, foreignLanguage, languageOf, nameOf, statusText, tables, textsOf,
} from '../../../Web/widget/model/texts.js'

/** `{path: value}` of all texts and functions. */
function flatten(table, path = '') {
  if (typeof table !== 'object') return { [path]: table }
  return Object.assign({}, ...Object.entries(table).map(([key, value]) => flatten(value, path ? `${path}.${key}` : key)))
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

/** All sentences of a call in trouble, in a language: none may be another language's. */
function sentences(language) {
  const definition = { name: '', language: 'en', startText: 'Call us', thinkingText: '', interruptText: '', quickCommands: ['Hello'] }
  const state = { ...initialState, language, definition }
  const call = {
    ...newCall, phase: 'connected', absence: 'missing', soundBlockage: 'gesture', closesAt: Date.UTC(2026, 0, 1, 15, 5), refusal: 'x', isRecorded: true,
    microphone: { state: 'failed', code: 'in_use', message: '', isMuted: false },
  }
  const problem = { kind: 'connection', code: 'SIGNAL_CLOSE', message: 'The connection is too slow.', closeCode: 4002, hadBegun: true }
  const inCall = { ...state, view: 'expanded', call }
  const agent = { identity: 'a', name: '', state: 'listening', isAway: true }
  const reporting = (value) => ({ agent: { identity: 'a', name: '', state: value, isAway: false }, absence: null })
  const absences = [{ wait: 'busy' }, { wait: 'no_worker' }, { agent, absence: null }, { agent, absence: 'lost' }, reporting('initializing'), reporting('error')].map((values) => ({ ...inCall, call: { ...call, ...values } }))
  return {
    status: statusText(inCall), name: nameOf(inCall), notices: describeNotices(inCall).flatMap(({ text, actions }) => [text, ...actions.map(({ label }) => label)]),
    problem: Object.values(describeProblem({ ...state, view: 'error', problem })).flat().map((part) => part.label ?? part),
    absences: absences.flatMap((one) => [statusText(one), describeNotices(one)[0].text]),
    retry: textsOf(state).actions.retry, foreign: ['Call us', 'Hello', 'Listening'].map((text) => foreignLanguage(state, text)),
  }
}

test('all languages have the same keys, and sentences leave nothing out', () => {
  const english = flatten(tables.en)
  for (const [language, table] of Object.entries(tables)) {
    const texts = flatten(table)
    assert.deepEqual(Object.keys(english).filter((key) => !(key in texts)), [], language)
    for (const [key, value] of Object.entries(texts)) assert.equal(faultOf(value, english[key]), null, `${language}: ${key}`)
  }
})

test('the language is the page’s, then the assistant’s, then English', () => {
  const cases = [
    ['de', 'fr', 'de'], ['de-AT', 'fr', 'de-AT'], ['DE', 'fr', 'de'], ['it', 'fr-CA', 'fr-CA'], ['', 'es', 'es'], ['it', 'nl', 'en'], ['', '', 'en'],
    ['fr', null, 'fr'], ['', null, 'en'], ['constructor', 'de_', 'en'], ['deu-', 'de', 'de'],
  ]
  for (const [page, assistant, expected] of cases) {
    assert.equal(languageOf({ language: page, definition: assistant === null ? null : { language: assistant } }), expected, `page ${page}, assistant ${assistant}`)
  }
})

test('a call in trouble speaks one language', () => {
  const english = sentences('en')
  for (const language of ['de', 'fr', 'es']) {
    const said = sentences(language)
    for (const part of ['status', 'name', 'notices', 'absences', 'problem', 'retry']) {
      // The name of an assistant without one is the same word in English and in French.
      if (language === 'fr' && part === 'name') continue
      const same = [said[part]].flat().filter((sentence) => [english[part]].flat().includes(sentence))
      assert.deepEqual(same, [], `${language}, ${part}`)
    }
  }
})

test('times of day are written as the language does', () => {
  assert.match(sentences('en').notices.join(' '), / at \d\d:\d\d\s[AP]M\./)
  assert.match(sentences('de').notices.join(' '), / um \d\d:\d\d neu\./)
})

test('a microphone that this browser cannot use is not tried again, and the reason is said once, in every language', () => {
  for (const language of Object.keys(tables)) {
    const said = ['unsupported', 'insecure_page', 'no_decoder', 'no_encoder'].map((code) => {
      const call = { ...newCall, phase: 'connected', soundBlockage: code === 'no_decoder' ? 'unsupported' : null, microphone: { ...newCall.microphone, state: 'failed', code } }
      const [notice, ...others] = describeNotices({ ...initialState, language, call })
      assert.deepEqual([others, notice.actions.map(({ command }) => command)], [[], ['typeInstead']], `${language} ${code}`)
      assert.deepEqual(describeNotices({ ...initialState, language, call: { ...call, isTyping: true } })[0].actions, [], `${language} ${code}`)
      return notice.text
    })
    assert.equal(new Set(said).size, said.length, language)
  }
})

test('texts of the assistant in another language are marked', () => {
  assert.deepEqual([sentences('en').foreign, sentences('de').foreign], [['', '', ''], ['en', 'en', '']])
})

test('the talk view says what the microphone is for before the browser asks, in every language', () => {
  const call = { ...newCall, phase: 'connected', microphone: { ...newCall.microphone, state: 'unasked' } }
  const titles = Object.keys(tables).map((language) => {
    const { title, text, steps, actions } = describeMicrophone({ ...initialState, view: 'expanded', language, call }, '')
    assert.deepEqual([steps, actions.map(({ command }) => command), text.length > 20], [[], ['enableMicrophone', 'typeInstead'], true])
    return title
  })
  assert.equal(new Set(titles).size, titles.length)
  const typing = { ...initialState, view: 'transcript', call: { ...call, isTyping: true } }
  assert.deepEqual(describeNotices(typing).map(({ actions }) => actions.map(({ label }) => label)), [['Enable Microphone']])
})

test('the way to a blocked microphone is that of the browser', () => {
  const agents = {
    chromium: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    android: 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
    ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    safari: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
  }
  for (const [browser, userAgent] of Object.entries(agents)) {
    assert.deepEqual(describeMicrophone(initialState, userAgent).steps, [...tables.en.steps[browser], tables.en.steps.last], browser)
  }
})

test('what a button shows begins its longer name', () => {
  for (const [language, { talk }] of Object.entries(tables)) assert.ok(talk.stopLong.startsWith(talk.stop), language)
})

test('a microphone that is refused is asked for in the same words as at first, with the way to its setting', () => {
  for (const language of Object.keys(tables)) {
    const call = (microphone) => ({ ...initialState, language, view: 'expanded', call: { ...newCall, phase: 'connected', microphone } })
    const unasked = describeMicrophone(call({ state: 'unasked', isMuted: false }), '')
    const denied = describeMicrophone(call({ state: 'failed', code: 'permission_denied', isMuted: false }), '')
    assert.deepEqual([denied.title, denied.actions.map(({ label }) => label)], [unasked.title, unasked.actions.map(({ label }) => label)])
    assert.deepEqual(denied.actions.map(({ command }) => command), ['retryMicrophone', 'typeInstead'])
    assert.ok(denied.steps.at(-1).includes(denied.actions[0].label), language)
  }
  const { title, actions } = describeMicrophone(initialState, '')
  assert.deepEqual([title, actions.map(({ label }) => label)], ['Microphone Access Required', ['Enable Microphone', 'Not now']])
})

test('a name in the other direction is isolated in the widget’s sentences, whose direction is their own', () => {
  const withName = (name) => ({ ...initialState, definition: { name, language: 'ar', startText: 'اتصل', thinkingText: '', interruptText: '', quickCommands: [] }, language: 'en', view: 'expanded', call: { ...newCall, phase: 'connected', absence: 'missing' } })
  const [arabic, latin] = [withName('روبن'), withName('Robin')]
  assert.equal(statusText(arabic), 'Waiting for \u2068روبن\u2069 to join…')
  assert.ok(describeNotices(arabic)[0].text.startsWith('\u2068روبن\u2069 has'))
  assert.deepEqual([nameOf(arabic), statusText(latin)], ['روبن', 'Waiting for Robin to join…'])
  assert.deepEqual([directionOf(arabic, statusText(arabic)), directionOf(arabic, 'اتصل'), directionOf(arabic, '')], ['ltr', 'auto', 'ltr'])
})

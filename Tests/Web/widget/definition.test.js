// What the widget takes from a definition and from the page around it, which are both written by others, and what it tells the page.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appearance, defaultVoices, readDefinition, readVoices } from '../../../Web/widget/model/definition.js'
import { TranscriptItems, settingsOf } from '../../../Web/widget/model/exposed.js'
import { languageAt } from '../../../Web/widget/model/language.js'
import { storage } from '../../../Web/widget/model/storage.js'

test('a definition is reduced to what is shown', () => {
  const found = readDefinition({ id: 'shop', name: 'Robin', onboarding: ['Hi'], quick_commands: ['a', 1, ''], widget: { theme: 'dark', visualizer_preset: 'wave', start_text: 'Go' }, secret: 'x' })
  assert.deepEqual([found.id, found.hasOnboarding, found.quickCommands, found.theme, found.preset, found.startText], ['shop', true, ['a'], 'dark', 'wave', 'Go'])
  assert.equal('secret' in found, false)
})

test('anything unexpected is left out', () => {
  const usual = readDefinition({})
  for (const content of [null, undefined, 'text', [], { widget: null }, { widget: 'x', quick_commands: 'y', onboarding: {}, name: 5 }, { widget: { theme: 'constructor', start_state: 'open' } }]) {
    assert.deepEqual(readDefinition(content), usual, JSON.stringify(content))
  }
})

test('only web addresses become links', () => {
  const link = (logo_url) => readDefinition({ widget: { logo_url } }).logo
  assert.equal(link('https://shop.example/logo.svg'), 'https://shop.example/logo.svg')
  for (const address of ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', '/logo.svg', '//shop.example', '', 7]) assert.equal(link(address), '', `${address}`)
})

test('theme and colours are the element’s if it has valid ones, otherwise the assistant’s', () => {
  const definition = readDefinition({ widget: { theme: 'dark', visualizer_color: 'flare' } })
  const cases = [
    [{}, 'dark', 'flare'], [{ theme: 'light', visualizer: 'mystic' }, 'light', 'mystic'], [{ theme: ' Light ', visualizer: 'BLOOM' }, 'light', 'bloom'],
    [{ theme: '', visualizer: null }, 'dark', 'flare'], [{ theme: 'constructor', visualizer: '"]{}' }, 'dark', 'flare'],
  ]
  for (const [attributes, theme, color] of cases) assert.deepEqual(appearance(definition, attributes), { theme, color }, JSON.stringify(attributes))
  assert.deepEqual(appearance(null, {}), { theme: 'auto', color: 'verdant' })
  assert.deepEqual(appearance(readDefinition({}), {}, true), { theme: 'auto', color: 'sky' })
  assert.deepEqual(appearance(definition, {}, true), { theme: 'dark', color: 'flare' })
})

test('the page gets settings that it cannot change, and none before they are loaded', () => {
  const definition = readDefinition({ id: 'shop', quick_commands: ['a'], widget: { start_text: 'Go', logo_url: 'https://shop.example/l.svg' } })
  const settings = settingsOf(definition, { theme: 'dark', color: 'mystic' })
  assert.deepEqual([settings.id, settings.startText, settings.logoUrl, settings.theme, settings.visualizer, settings.visualizerPreset], ['shop', 'Go', 'https://shop.example/l.svg', 'dark', 'mystic', 'bars'])
  assert.throws(() => settings.quickCommands.push('b'))
  assert.throws(() => (settings.name = 'b'))
  assert.equal(settingsOf(null, { theme: 'dark', color: 'mystic' }), null)
})

test('items of the transcript keep their identity until their text changes, and outlive the call', () => {
  const items = new TranscriptItems()
  const line = { id: 's', at: 5, kind: 'assistant', text: 'Hel', isFinal: false }
  assert.deepEqual(items.update([line]), [{ id: 's', text: 'Hel', isUser: false, timestamp: new Date(5), isFinal: false }])
  const [first] = items.items
  // How far it was heard is not part of it.
  assert.deepEqual(items.update([{ ...line, heard: 2 }]), [])
  assert.equal(items.items[0], first)
  const [own] = items.update([line, { id: 'own-1', at: 6, kind: 'typed', text: '<b>Hi</b>' }, { id: 'e', at: 7, kind: 'assistant', text: ' ' }])
  assert.deepEqual([own.text, own.isUser, own.isFinal, items.items.length], ['<b>Hi</b>', true, true, 2])
  assert.equal(items.update([{ ...line, text: 'Hello', isFinal: true }])[0].text, 'Hello')
  assert.throws(() => items.items.push(first))
  assert.deepEqual([items.update([]), items.items.length, items.clear(), items.clear(), items.items.length], [[], 1, true, false, 0])
})

test('without voices, the usual ones', () => {
  assert.equal(readVoices([]), defaultVoices)
  assert.equal(readVoices('x'), defaultVoices)
  assert.equal(readVoices([{ name: 'no id' }, null]), defaultVoices)
  assert.deepEqual(readVoices([{ id: 'a' }, { id: 'b', name: 'B' }]), [{ id: 'a', name: 'a' }, { id: 'b', name: 'B' }])
})

test('the language is the nearest one, through shadow roots', () => {
  const element = (lang, parentNode = null) => ({ getAttribute: () => lang, parentNode })
  const host = element('es', element('de'))
  const shadow = { host, parentNode: null }
  assert.equal(languageAt(element(null, element(null, shadow))), 'es')
  assert.equal(languageAt(element('', host)), '')
  assert.equal(languageAt(element(null)), '')
})

test('a browser without storage remembers for one page', () => {
  globalThis.localStorage ??= /** @type {any} */ ({ getItem() { throw new Error('blocked') }, setItem() { throw new Error('blocked') } })
  storage.voice = 'nova'
  storage.rememberOnboarding('shop')
  assert.deepEqual([storage.voice, storage.hasSeenOnboarding('shop'), storage.hasSeenOnboarding('other')], ['nova', true, false])
  storage.rememberOnboarding('shop', 'ann')
  assert.deepEqual(['ann', 'bob'].map((user) => storage.hasSeenOnboarding('shop', user)), [true, false])
})

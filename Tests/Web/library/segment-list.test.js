// Segments with revisions, and which words have been heard.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SegmentList, splitText } from '../../../Web/patchbay/segment-list.js'

const track = { sid: 'TR_1', participant: 'robin' }

const words = (...entries) => entries.map(([text, start_ts, end_ts]) => ({ text, start_ts, end_ts }))

function spoken(values) {
  return {
    id: 'a', rev: 1, role: 'assistant', participant: 'robin', track: 'TR_1', text: 'Hello, Ann!', start_ts: 1000, end_ts: 3000,
    words: words(['Hello', 1000, 1900], ['Ann', 2000, 3000]), ...values,
  }
}

test('a revision replaces its segment in place', () => {
  const transcript = new SegmentList()
  for (const [id, rev, text] of [['a', 1, 'go'], ['b', 1, 'yes'], ['a', 2, 'go forward']]) transcript.apply({ id, rev, text, role: 'user' })
  assert.deepEqual(transcript.segments.map(({ id, text }) => [id, text]), [['a', 'go forward'], ['b', 'yes']])
})

test('a revision that arrives late is ignored, and so is a repeated one', () => {
  const transcript = new SegmentList()
  transcript.apply({ id: 'a', rev: 3, text: 'new', role: 'user' })
  assert.equal(transcript.apply({ id: 'a', rev: 2, text: 'old', role: 'user' }), null)
  assert.equal(transcript.apply({ id: 'a', rev: 3, text: 'again', role: 'user' }), null)
  assert.equal(transcript.segments[0].text, 'new')
})

test('a segment says only what is known', () => {
  const segment = new SegmentList().apply({ id: 'a', text: 'hi', role: 'user', words: null, track: null })
  assert.deepEqual(segment, { id: 'a', rev: 0, role: 'user', participant: '', text: 'hi', final: false, language: '' })
})

test('a page that is open for days keeps the latest segments', () => {
  const transcript = new SegmentList()
  for (let index = 0; index < 2500; index++) transcript.apply({ id: `s${index}`, rev: 1, text: 'x', role: 'user' })
  assert.equal(transcript.segments.length, 2000)
  assert.equal(transcript.segments[0].id, 's500')
})

test('words are found as they are heard, with their punctuation', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken())
  const at = (ts) => {
    const { word, spokenChars } = transcript.position(track, ts)
    return [word, spokenChars]
  }
  assert.deepEqual([at(1000), at(1500), at(2000), at(3000)], [[0, 6], [0, 6], [1, 11], [-1, 11]])
})

test('before a segment begins, nothing is heard of it', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken())
  assert.equal(transcript.position(track, 999), null)
  assert.equal(transcript.position({ sid: 'TR_2', participant: 'eve' }, 2000), null)
})

test('of two segments, the one that began last is heard, whatever their order', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken({ id: 'late', start_ts: 5000, end_ts: 6000, words: undefined }))
  transcript.apply(spoken({ id: 'early' }))
  assert.equal(transcript.position(track, 5500).segment.id, 'late')
  assert.equal(transcript.position(track, 1500).segment.id, 'early')
})

test('segments across the wrap of the clock are heard in order', () => {
  const transcript = new SegmentList()
  const start = 2 ** 32 - 1000
  transcript.apply(spoken({ start_ts: start, end_ts: 1000, words: words(['Hello', start, 2 ** 32 - 100], ['Ann', 10, 1000]) }))
  assert.equal(transcript.position(track, 2 ** 32 - 500).word, 0)
  assert.equal(transcript.position(track, 500).word, 1)
  transcript.apply(spoken({ id: 'b', start_ts: 2000, end_ts: 3000, words: undefined }))
  assert.equal(transcript.position(track, 2500).segment.id, 'b')
})

test('without words, the heard part follows time', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken({ text: '0123456789', words: undefined }))
  assert.deepEqual([1000, 2000, 3000, 9000].map((ts) => transcript.position(track, ts).spokenChars), [0, 5, 10, 10])
})

test('of an interrupted segment, no more is heard than the gateway says', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken({ spoken: 'interrupted', spoken_chars: 3 }))
  assert.equal(transcript.position(track, 2900).spokenChars, 3)
})

test('a word that the text does not have ends where its predecessor does', () => {
  const transcript = new SegmentList()
  transcript.apply(spoken({ text: 'It costs €5.', words: words(['it', 1000, 1100], ['costs', 1200, 1300], ['five', 1400, 1500], ['…', 1600, 1700]) }))
  assert.deepEqual([1000, 1200, 1400, 1600].map((ts) => transcript.position(track, ts).spokenChars), [2, 8, 8, 8])
})

test('texts are split between Unicode scalars', () => {
  assert.deepEqual(splitText('a😀b', 2), ['a😀', 'b'])
  assert.deepEqual(splitText('abc', 0), ['', 'abc'])
  assert.deepEqual(splitText('abc', 9), ['abc', ''])
  assert.deepEqual(splitText('abc', -1), ['', 'abc'])
})

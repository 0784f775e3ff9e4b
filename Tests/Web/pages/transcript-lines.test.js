// The lines of a conversation, as revisions, playout and typed messages arrive.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLine, applyPlayout, applySegment, emptyTranscript, parts } from '../../../Web/shared/transcript-lines.js'

const segment = (values) => ({ id: 'a', role: 'assistant', text: 'Hello, dear Ann.', final: true, language: 'en', startTs: 0, words: [{ text: 'Hello' }, { text: 'dear' }, { text: 'Ann' }], ...values })
const spoken = (values) => applySegment(emptyTranscript, segment(values), 'Robin', 0)
const played = (transcript, spokenChars, word) => applyPlayout(transcript, { segment: segment(), spokenChars, word })
const shown = ({ lines }) => Object.values(parts(lines.at(-1)))

test('a segment is a line, and its revision stays in its place', () => {
  let transcript = spoken()
  transcript = addLine(transcript, { id: 'typed', kind: 'typed', name: '', text: 'Hi' })
  transcript = applySegment(transcript, segment({ text: 'Hello, Ann.' }), 'Robin')
  assert.deepEqual(transcript.lines.map(({ text }) => text), ['Hello, Ann.', 'Hi'])
  assert.equal(transcript.lines[0].at, 0)
})

test('the word that is heard is marked, and what follows is still to come', () => {
  const transcript = played(spoken(), 11, 1)
  assert.deepEqual(shown(transcript), ['Hello, ', 'dear', ' Ann.', ''])
})

test('what was not heard before an interruption is struck through', () => {
  let transcript = played(spoken(), 11, 1)
  transcript = applySegment(transcript, segment({ spoken: 'interrupted', spokenChars: 6 }), 'Robin')
  assert.deepEqual(shown(transcript), ['Hello, ', '', '', 'dear Ann.'])
  // Reports of the playout that arrive late change nothing.
  assert.equal(played(transcript, 16, 2), transcript)
})

test('an interruption without a count is where the page was', () => {
  const transcript = applySegment(played(spoken(), 11, 1), segment({ spoken: 'interrupted' }), 'Robin')
  assert.deepEqual(shown(transcript), ['Hello, dear ', '', '', 'Ann.'])
})

test('what was heard completely is plain text again', () => {
  const transcript = applySegment(played(spoken(), 16, 2), segment({ spoken: 'completed' }), 'Robin')
  assert.deepEqual(shown(transcript), ['Hello, dear Ann.', '', '', ''])
  assert.equal(transcript.lines[0].isPlaying, false)
})

test('without times, and from users, everything counts as heard', () => {
  assert.deepEqual(shown(spoken({ startTs: undefined })), ['Hello, dear Ann.', '', '', ''])
  assert.deepEqual(shown(spoken({ role: 'user' })), ['Hello, dear Ann.', '', '', ''])
})

test('only one line is playing', () => {
  let transcript = played(spoken(), 11, 1)
  transcript = applySegment(transcript, segment({ id: 'b' }), 'Robin')
  transcript = applyPlayout(transcript, { segment: segment({ id: 'b' }), spokenChars: 6, word: 0 })
  assert.deepEqual(transcript.lines.map(({ isPlaying }) => isPlaying), [false, true])
})

test('emoji and repeated words are split where they are', () => {
  const text = '😀 no, no, no!'
  const transcript = applyPlayout(spoken({ text }), { segment: segment({ text, words: [{ text: 'no,' }, { text: 'no,' }] }), spokenChars: 9, word: 1 })
  assert.deepEqual(shown(transcript), ['😀 no, ', 'no,', ' no!', ''])
})

test('playout of a segment that is not shown changes nothing', () => {
  assert.equal(played(emptyTranscript, 3, 0), emptyTranscript)
})

test('a report that says nothing new changes nothing', () => {
  const transcript = played(spoken(), 11, 1)
  assert.equal(played(transcript, 11, 1), transcript)
})

test('old lines are removed, counted, and do not come back with a late revision', () => {
  let transcript = emptyTranscript
  for (let index = 0; index < 700; index++) transcript = applySegment(transcript, segment({ id: `s${index}` }), 'Robin')
  assert.deepEqual([transcript.lines.length, transcript.removed, transcript.lines[0].id], [600, 100, 's100'])
  assert.equal(applySegment(transcript, segment({ id: 's50' }), 'Robin'), transcript)
})

test('long texts are removed earlier, but never the last line', () => {
  let transcript = emptyTranscript
  for (let index = 0; index < 4; index++) transcript = applySegment(transcript, segment({ id: `s${index}`, text: 'x'.repeat(60_000) }), 'Robin')
  assert.deepEqual(transcript.lines.map(({ id }) => id), ['s3'])
  assert.equal(applySegment(emptyTranscript, segment({ text: 'x'.repeat(200_000) }), 'Robin').lines.length, 1)
})

// The words of the caption, which appear as they are heard.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countKept, wordsOf } from '../../../Web/widget/views/lines.js'

test('words keep their spaces and their positions', () => {
  assert.deepEqual(wordsOf(' Hello  Ann.'), [{ start: 1, text: 'Hello  ' }, { start: 8, text: 'Ann.' }])
  assert.deepEqual(wordsOf(''), [])
})

test('a revision keeps the words that it begins with', () => {
  const cases = [
    ['Hello Ann.', 'Hello Ann. How are you?', 2], ['Hello Ann.', 'Hello Bob.', 1], ['Hello Ann.', 'Hello', 1], ['Hello', 'Oh, hello', 0],
    ['Hello Ann.', 'Hello  Ann.', 1], ['', 'Hello', 0], ['Hello', '', 0],
  ]
  for (const [text, revision, count] of cases) assert.equal(countKept(wordsOf(text), wordsOf(revision)), count, `${text} | ${revision}`)
})

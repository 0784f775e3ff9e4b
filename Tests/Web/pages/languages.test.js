// The language tags for which the widget has texts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { primary, supported } from '../../../Web/shared/languages.js'

test('a tag with texts is spelled as usual; others, and what is no tag, have none', () => {
  const cases = { de: 'de', 'DE-at': 'de-AT', 'fr-CA': 'fr-CA', it: undefined, '': undefined, 'not a tag': undefined, constructor: undefined }
  for (const [tag, expected] of Object.entries(cases)) assert.equal(supported(tag), expected, tag)
  assert.equal(primary('es-MX'), 'es')
})

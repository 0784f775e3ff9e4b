// The rows of a transcript, with as much of the DOM as they use.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TranscriptRows } from '../../../Web/shared/transcript-rows.js'

class FakeElement {
  children = []
  dataset = {}
  parent = null
  hidden = false
  textContent = ''

  append(...children) {
    this.children.push(...children)
  }

  insertBefore(child, next) {
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, child)
    child.parent = this
  }

  remove() {
    this.parent.children.splice(this.parent.children.indexOf(this), 1)
  }

  setAttribute() {}
  toggleAttribute() {}
  addEventListener() {}
}

function makeRows() {
  const list = new FakeElement()
  const rows = new TranscriptRows(list)
  const textOf = ({ children, textContent }) => textContent + children.map(textOf).join('')
  const update = (...texts) => rows.update(texts.map((text, index) => ({ id: `s${index}`, kind: 'user', text })), () => ({ kind: 'user', speaker: '' }))
  return { list, rows, update, shown: () => list.children.map((row) => textOf(row).replace('(not heard)', '').trim()) }
}

test('lines without a text are not shown until they have one', (context) => {
  const { document: page, ResizeObserver: observer } = globalThis
  context.after(() => Object.assign(globalThis, { document: page, ResizeObserver: observer }))
  Object.assign(globalThis, { document: { createElement: () => new FakeElement() }, ResizeObserver: class { observe() {} } })
  const { list, rows, update, shown } = makeRows()
  update(' ', '\n\u00a0')
  assert.deepEqual([shown(), list.hidden, rows.isEmpty], [[], true, true])
  update('Hello', '', 'Good morning')
  assert.deepEqual([shown(), list.hidden, rows.isEmpty], [['Hello', 'Good morning'], false, false])
  update('Hello', 'Hi', 'Good morning')
  assert.deepEqual(shown(), ['Hello', 'Hi', 'Good morning'])
  update(' ', 'Hi', 'Good morning')
  assert.deepEqual(shown(), ['Hi', 'Good morning'])
})

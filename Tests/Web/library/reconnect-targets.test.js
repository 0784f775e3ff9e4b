// At which addresses a lost connection is opened again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import '../support/sockets.js'
import { ReconnectTargets } from '../../../Web/patchbay/reconnect-targets.js'

const FIRST = 'wss://voice.example'

function targets(nodes, first = FIRST) {
  const targets = new ReconnectTargets(first)
  targets.connected(first, nodes)
  return targets
}

test('without other nodes all attempts are at the same address', () => {
  for (const nodes of [undefined, null, [], 'wss://n2.example', {}, 7]) assert.deepEqual(targets(nodes).addresses, [FIRST])
})

test('the lost node is tried first, and then the others in turn', () => {
  const tried = targets(['wss://n2.example', 'wss://n3.example:7880'])
  assert.deepEqual([0, 1, 2, 3, 4].map((attempt) => tried.at(attempt)), [FIRST, 'wss://n2.example', 'wss://n3.example:7880', FIRST, 'wss://n2.example'])
})

test('the node that worked is the first of the next attempts', () => {
  const tried = targets(['wss://n2.example', 'wss://n3.example'])
  tried.connected(tried.at(1), ['wss://n4.example'])
  assert.deepEqual(tried.addresses, ['wss://n2.example', 'wss://n4.example', FIRST])
})

test('the node that asks the client to leave is tried last', () => {
  const tried = targets(['wss://n2.example', 'wss://n3.example'])
  tried.leave()
  assert.deepEqual(tried.addresses, ['wss://n2.example', 'wss://n3.example', FIRST])
  tried.connected(tried.at(0), [])
  assert.deepEqual(tried.addresses, ['wss://n2.example', FIRST])
})

test('each address is tried once per round', () => {
  assert.deepEqual(targets([FIRST, 'wss://n2.example', 'wss://n2.example/']).addresses, [FIRST, 'wss://n2.example'])
})

test('the token is not sent unencrypted', () => {
  const bad = ['ws://n2.example', 'http://n2.example', 'https://n2.example', '//n2.example', '/n2', '', 'wss://', null, 7, ['wss://n2.example']]
  assert.deepEqual(targets([...bad, 'wss://n3.example']).addresses, [FIRST, 'wss://n3.example'])
  // On a developer's machine.
  assert.deepEqual(targets(['ws://b.test', 'wss://c.test', 'http://d.test'], 'ws://a.test').addresses, ['ws://a.test', 'ws://b.test', 'wss://c.test'])
})

test('at most eight nodes are kept', () => {
  const nodes = Array.from({ length: 20 }, (_, index) => `wss://n${index}.example`)
  assert.deepEqual(targets(nodes).addresses, [FIRST, ...nodes.slice(0, 8)])
})

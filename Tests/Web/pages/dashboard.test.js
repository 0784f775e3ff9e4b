// The dashboard: metrics, samples over time, figures as text, and its state.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PastedTokens, keyAccess } from '../../../Web/dashboard/model/access.js'
import { amount, bytes, drops, quantiles, seconds, select } from '../../../Web/dashboard/model/figures.js'
import { History } from '../../../Web/dashboard/model/history.js'
import { parseMetrics, quantile, total, totalsBy } from '../../../Web/dashboard/model/prometheus.js'
import { initialState, reduce, visibleRooms } from '../../../Web/dashboard/model/state.js'

const values = (points) => points.map(({ value }) => value)

test('metrics are parsed, and lines that are none are skipped', () => {
  const metrics = parseMetrics([
    '# HELP a Something.', '# TYPE a counter', 'a{shard="0",reason="full"} 3', 'a{shard="1",reason="full"} 4', 'a{shard="1",reason="age"} 1e2',
    'b 1.5', 'c{text="a \\"quoted\\", \\\\ and \\n line",other="}"} -2 1700000000000', 'd NaN', 'broken{', 'broken{a} 1', 'broken{a="x', '<html>', 'e +Inf', '',
  ].join('\n'))
  assert.deepEqual([...metrics.keys()], ['a', 'b', 'c', 'e'])
  assert.deepEqual([total(metrics, 'a'), total(metrics, 'a', { shard: '1' }), total(metrics, 'nothing')], [107, 104, null])
  assert.deepEqual([...totalsBy(metrics, 'a', 'reason')], [['full', 7], ['age', 100]])
  assert.deepEqual(metrics.get('c')[0].labels, { text: 'a "quoted", \\ and \n line', other: '}' })
})

test('quantiles are estimated within buckets', () => {
  const buckets = [[0.1, 50], [0.2, 90], [Infinity, 100]]
  assert.deepEqual([0.5, 0.7, 0.99].map((share) => Number(quantile(buckets, share).toFixed(6))), [0.1, 0.15, 0.2])
  assert.deepEqual([quantile([[1, 0], [Infinity, 0]], 0.5), quantile([], 0.5)], [null, null])
})

test('samples are kept in a ring', () => {
  const history = new History(10)
  for (let second = 0; second < 15; second++) history.push(second * 2000, new Map([['a', second * 10]]))
  assert.deepEqual([history.count, history.firstTime, history.lastTime, history.latest('a'), history.latest('b'), history.grown('a', 20_000)], [10, 10_000, 28_000, 140, null, 40])
  assert.deepEqual(values(history.rates('a', 18_000, 28_000, 5)), [5, 5, 5, 5, 5])
})

test('a restart of the gateway, a counter that starts again and a gap are no rates', () => {
  const history = new History(20)
  for (let second = 0; second < 5; second++) history.push(second * 2000, new Map([['a', second * 10]]))
  history.noteRestart()
  // More than before, and of another process nevertheless.
  history.push(8001, new Map([['a', 1000]]))
  history.push(10_000, new Map([['a', 4]]))
  history.push(70_000, new Map([['a', 5]]))
  const rates = values(history.rates('a', 0, 72_000, 36))
  assert.ok(rates.every((rate) => rate === null || rate < 20), `${rates}`)
  assert.ok(rates.filter((rate) => rate === null).length > 15)
  assert.deepEqual([history.grown('a', 10_000), history.grown('a', 8001), history.grown('a', 8000), history.grown('a', 0)], [1, null, 5, 5])
})

test('quantiles over time, and reasons of drops', () => {
  const history = new History(10)
  const sample = (lag, full) => select(parseMetrics(
    `patchbay_loop_lag_seconds_bucket{shard="0",le="0.1"} ${lag}\npatchbay_loop_lag_seconds_bucket{shard="0",le="+Inf"} ${lag}\npatchbay_frames_dropped_total{reason="full"} ${full}\npatchbay_frames_dropped_total{reason="age"} 1`))
  history.push(0, sample(0, 0))
  history.push(2000, sample(10, 3))
  assert.deepEqual(values(quantiles(history, 'patchbay_loop_lag_seconds', '0', 0.5, 0, 2000, 1)), [0.05])
  assert.deepEqual(drops(history, 0), [{ reason: 'full', count: 3 }, { reason: 'age', count: 0 }])
})

test('figures are short texts', () => {
  assert.deepEqual([0, 12.34, 999.5, 1234, 2.5e6, 4e9, null].map(amount), ['0', '12.3', '1000', '1.23 k', '2.50 M', '4 G', '–'])
  assert.deepEqual([0, 0.0042, 0.25, 3, 3.5, 7300, 400_000, null].map(seconds), ['0 ms', '4.2 ms', '250 ms', '3 s', '3.5 s', '2 h', '4 days', '–'])
  assert.deepEqual([2 ** 28, 2 ** 31, null].map(bytes), ['256 MiB', '2.0 GiB', '–'])
})

test('rooms where somebody talks come first, then the fullest, then the newest', () => {
  const room = (name, num_speakers, num_participants, created_at) => ({ name, num_speakers, num_participants, created_at })
  const rooms = { items: [room('old', 0, 2, 1), room('new', 0, 2, 2), room('full', 0, 9, 1), room('loud', 1, 1, 1), room('other', undefined, 1, 1)] }
  assert.deepEqual(visibleRooms({ rooms, filter: '' }).map(({ name }) => name), ['loud', 'full', 'new', 'old', 'other'])
  assert.deepEqual(visibleRooms({ rooms, filter: ' O  L' }).map(({ name }) => name), ['loud', 'old'])
})

test('answers about a room that is no longer shown are ignored', () => {
  const shown = reduce(initialState, { type: 'room.show', name: 'a' })
  assert.equal(reduce(shown, { type: 'room.loaded', name: 'b', detail: {}, log: [] }), shown)
  const gone = reduce(reduce(shown, { type: 'room.loaded', name: 'a', detail: 1, log: [] }), { type: 'room.gone', name: 'a' })
  assert.deepEqual([gone.room.state, gone.room.detail], ['gone', 1])
})

test('a problem that is known is told again only if it is new', () => {
  const add = (state, values) => reduce(state, { type: 'problem.add', at: 1, key: 'gateway', code: 'x', ...values })
  const known = add(initialState)
  assert.equal(add(known), known)
  assert.notEqual(add(known, { isNew: true }), known)
  assert.deepEqual(reduce(known, { type: 'problem.remove', key: 'gateway' }).problems, [])
})

test('a token that the page signs is one that the gateway takes', async () => {
  const access = await keyAccess('my-app', 'secret')
  const token = await access.token('lobby')
  const [head, body, signature] = token.split('.')
  const decode = (part) => JSON.parse(Buffer.from(part, 'base64url').toString())
  assert.deepEqual(decode(head), { alg: 'HS256', typ: 'JWT' })
  assert.deepEqual(decode(body).video, { roomList: true, roomAdmin: true, room: 'lobby' })
  const { createHmac } = await import('node:crypto')
  assert.equal(signature, createHmac('sha256', 'secret').update(`${head}.${body}`).digest('base64url'))
  // Used again until it is about to expire.
  assert.equal(await access.token('lobby'), token)
})

test('pasted tokens are for what they say', async () => {
  const now = Math.floor(Date.now() / 1000)
  const token = (claims) => `${Buffer.from('{}').toString('base64url')}.${Buffer.from(JSON.stringify({ exp: now + 60, ...claims })).toString('base64url')}.x`
  const tokens = new PastedTokens()
  const list = token({ video: { roomList: true } })
  tokens.add(list)
  assert.equal(await tokens.token(), list)
  await assert.rejects(tokens.token('lobby'), { code: 'no_token' })
  const refused = [['', 'malformed_token'], ['a.b.c', 'malformed_token'], [token({ exp: now - 1 }), 'token_expired'], [token({}), 'missing_grant'], [token({ video: { roomAdmin: true } }), 'missing_grant']]
  for (const [text, code] of refused) assert.throws(() => tokens.add(text), { code }, text)
})

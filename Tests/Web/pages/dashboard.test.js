// The dashboard: metrics, samples over time, figures as text, and its state.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS, PastedTokens, keyAccess } from '../../../Web/dashboard/model/access.js'
import { nodeOf, withNode } from '../../../Web/dashboard/model/addresses.js'
import { amount, bytes, drops, quantiles, readHistory, seconds, select } from '../../../Web/dashboard/model/figures.js'
import { History } from '../../../Web/dashboard/model/history.js'
import { nodeRows, otherCoordinator, shownNode } from '../../../Web/dashboard/model/nodes.js'
import { assistantRows, endedRows, errorRows, participantRows, workerRows } from '../../../Web/dashboard/model/operations.js'
import { arrange } from '../../../Web/dashboard/model/order.js'
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

test('rows keep their place while they are held, and new ones come below', () => {
  assert.deepEqual(arrange(['a', 'b', 'c'], ['d', 'c', 'a'], false, 10), ['d', 'c', 'a'])
  assert.deepEqual(arrange(['a', 'b', 'c'], ['d', 'c', 'a'], true, 10), ['a', 'b', 'c', 'd'])
  assert.deepEqual([arrange([], ['a', 'b'], true, 1), arrange(['a', 'b'], ['c'], true, 1), arrange(['a'], ['c', 'b', 'a'], false, 2)], [['a'], ['a', 'b'], ['c', 'b']])
})

test('the gateway’s own history comes before what the page has seen, also across a restart', () => {
  const column = (name, values, labels = []) => ({ name, labels, values })
  const label = (name, value) => ({ name, value })
  const kept = readHistory({
    interval_ms: 10_000, times: [10_000, 20_000, 30_000],
    series: [
      column('patchbay_joins_total', [1, 3, 5]), column('patchbay_frames_received_total', [null, 10, 20], [label('shard', '0')]),
      column('patchbay_join_seconds_bucket', [1, 2, 3], [label('le', '0.1')]), column('patchbay_join_seconds_bucket', [1, 2, 4], [label('le', '+Inf')]),
    ],
  })
  assert.deepEqual(kept.map(({ time }) => time), [10_000, 20_000, 30_000])
  assert.deepEqual([kept[2].values.get('patchbay_joins_total'), kept[0].values.get('patchbay_frames_received_total/0'), kept[2].values.get('patchbay_join_seconds//+Inf')], [5, undefined, 4])
  const history = new History(6)
  history.push(28_000, new Map([['patchbay_joins_total', 5]]))
  history.noteRestart()
  history.push(32_000, new Map([['patchbay_joins_total', 1]]))
  history.backfill(kept)
  assert.deepEqual([history.count, history.firstTime, history.lastTime, history.latest('patchbay_joins_total')], [4, 10_000, 32_000, 1])
  // The interval between the gateway's last sample and the page's first one; values across the restart are unknown.
  assert.deepEqual(values(history.rates('patchbay_joins_total', 16_000, 32_000, 4)), [0.2, 0.2, 0.25, null])
  history.push(34_000, new Map([['patchbay_joins_total', 3]]))
  assert.equal(history.grown('patchbay_joins_total', 32_000), 2)
  for (let second = 36; second < 60; second += 2) history.push(second * 1000, new Map())
  assert.deepEqual([history.count, history.firstTime], [6, 48_000])
})

test('operations as rows: the tone tells what to look at, and nothing that is missing is shown as a number', () => {
  const view = {
    participants: [
      { room: 'a/b', identity: 'eve', kind: 'standard', quality: 'excellent', lost_ms: 12_400 }, { room: 'lobby', identity: 'bob', kind: 'agent', quality: 'poor', rtt_ms: 212.5, jitter_ms: 3, loss_percent: 7.25 },
    ],
    workers: [
      { id: 'DV_1', assistant: 'shop', capacity: 2, load: 0.95, jobs: 1, draining: false, responsive: true }, { id: 'DV_2', assistant: 'shop', capacity: 2, load: 0, jobs: 0, draining: true, responsive: true },
      { id: 'DV_3', assistant: 'shop', capacity: 2, load: 0, jobs: 1, draining: false, responsive: false },
    ],
    lost_workers: [{ at: 60_000, id: 'DV_0', assistant: 'shop', jobs: 2 }],
    assistants: [
      { assistant: 'fast', at: 0, turns: 3, interrupted: 0, stages: [{ stage: 'voice_to_voice', median_ms: 300, p95_ms: 500 }] }, { assistant: 'new', at: 0, turns: 1, interrupted: 1, stages: [] },
      { assistant: 'slow', at: 0, turns: 9, interrupted: 2, stages: [{ stage: 'first_token', median_ms: 1200, p95_ms: 3000 }, { stage: 'voice_to_voice', median_ms: 1500, p95_ms: 4000 }] },
    ],
    errors: [{ at: 5, count: 7, level: 'warning', logger: 'patchbay.dispatch', message: 'a job waits for a worker', details: 'room=lobby' }],
    refusals: [{ at: 9, count: 1, reason: 'token_expired', status: 401, route: 'GET /v1/rtc', address: '10.0.0.1', room: '<b>' }],
    ended_rooms: [{ at: 3, count: 1, name: 'lobby', sid: 'RM_1', reason: 'ROOM_DELETED', seconds: 61 }], ended_sessions: [{ at: 4, count: 1, session: 's', room: 'session-s', seconds: 5 }],
  }
  assert.deepEqual([...participantRows(view).values()].map(({ identity, href, tone, state, rtt, loss, kind }) => [identity, href, tone, state, rtt, loss, kind]), [
    ['eve', null, 'danger', 'Lost for 12 s', '–', '–', ''], ['bob', '#/rooms/lobby', 'warning', 'Poor', '213 ms', '7.3 %', 'agent'],
  ])
  assert.deepEqual([...workerRows(view, 120_000).values()].map(({ id, tone, state, jobs }) => [id, tone, state, jobs]), [
    ['DV_0', 'danger', 'Lost 60 s ago', '2 then'], ['DV_1', 'warning', 'Busy', '1 of 2'], ['DV_2', 'off', 'Draining', '0 of 2'], ['DV_3', 'danger', 'Does not answer', '1 of 2'],
  ])
  assert.deepEqual([...assistantRows(view, 60_000).values()].map(({ assistant, median, p95, turns, stages }) => [assistant, median, p95, turns, stages]), [
    ['slow', '1.5 s', '4 s', '9, 2 interrupted', 'First token 1.2 s'], ['fast', '300 ms', '500 ms', '3', ''], ['new', '–', '–', '1, 1 interrupted', ''],
  ])
  assert.deepEqual([...errorRows(view).values()].map(({ title, count, details }) => [title, count, details]), [
    ['401 token_expired', 1, 'GET /v1/rtc · 10.0.0.1 · room <b>'], ['a job waits for a worker', 7, 'patchbay.dispatch · room=lobby'],
  ])
  assert.deepEqual([...endedRows(view).values()].map(({ kind, title, details }) => [kind, title, details]), [
    ['session', 'session-s', 'lasted 5 s'], ['room', 'lobby', 'lasted 61 s · ROOM_DELETED · RM_1'],
  ])
})

test('the nodes of a cluster as rows: by name, with the one that is shown, and what is wrong with the others', () => {
  const node = (name, values) => ({ name, build: '1.0', draining: false, load: 0.1, rooms: 1, participants: 3, coordinator: false, ...values })
  const items = [node('n10', { load: 0.93 }), node('n2', { draining: true, build: '0.9', rooms: undefined, participants: undefined }), node('n1', { coordinator: true })]
  const rows = [...nodeRows({ items, shown: 'n1', isMissing: false }).values()]
  assert.deepEqual(rows.map(({ name, isShown, share, rooms, state, tone, detail }) => [name, isShown, share, rooms, state, tone, detail]), [
    ['n1', true, '10 %', '1', 'Ready', 'good', 'Coordinator · Version 1.0'], ['n2', false, '10 %', '–', 'Draining', 'warning', 'Version 0.9'], ['n10', false, '93 %', '1', 'Busy', 'warning', 'Version 1.0'],
  ])
  assert.deepEqual([...nodeRows({ items: [node('n1')], shown: 'n1', isMissing: false }).values()].map(({ detail }) => detail), [''])
  const missing = nodeRows({ items, shown: 'n3', isMissing: true })
  assert.deepEqual([...missing.keys()], ['n1', 'n2', 'n3', 'n10'])
  assert.deepEqual([missing.get('n3').state, missing.get('n3').load, missing.get('n3').isShown], ['Not running', null, true])
  assert.deepEqual([otherCoordinator({ items, shown: 'n2' }), otherCoordinator({ items, shown: 'n1' }), otherCoordinator({ items: null, shown: null })], ['n1', null, null])
  assert.deepEqual([shownNode({ items, shown: 'n2' }).build, shownNode({ items, shown: 'n3' }), shownNode({ items: null, shown: 'n2' })], ['0.9', undefined, undefined])
})

test('the address names a node', () => {
  assert.deepEqual(['', '?node=n1', '?a=b&node=a%26b', '?node='].map(nodeOf), [null, 'n1', 'a&b', null])
  const chosen = withNode('https://gateway.example/dashboard?node=n1#/rooms/lobby', 'n 2&')
  assert.equal(chosen, 'https://gateway.example/dashboard?node=n+2%26#/rooms/lobby')
  assert.equal(nodeOf(new URL(chosen).search), 'n 2&')
})

test('the node that answers first is shown until another one is chosen', () => {
  const act = (state, type, action = {}) => reduce(state, { type, at: 1, ...action })
  const nodes = [{ name: 'n1' }, { name: 'n2' }]
  const alone = act(act(initialState, 'node.choose', { name: 'n9' }), 'operations.loaded', { view: {} })
  assert.deepEqual(alone.nodes, initialState.nodes, 'without a cluster there is nothing to choose')
  const first = act(initialState, 'operations.loaded', { view: { node: 'n2', nodes } })
  assert.deepEqual(first.nodes, { items: nodes, chosen: null, shown: 'n2', isMissing: false })
  const chosen = act(first, 'node.choose', { name: 'n1' })
  assert.deepEqual([chosen.nodes.chosen, chosen.nodes.shown], ['n1', 'n1'])
  assert.equal(act(chosen, 'node.choose', { name: 'n1' }), chosen)
  assert.equal(act(chosen, 'node.choose', { name: null }).nodes.shown, null, 'back at an address without a node')
  const missing = act(chosen, 'node.missing', { name: 'n1', nodes: [nodes[1]] })
  assert.deepEqual([missing.nodes.shown, missing.nodes.isMissing, missing.operations.view], ['n1', true, null])
  const back = act(missing, 'operations.loaded', { view: { node: 'n1', nodes } })
  assert.deepEqual([back.nodes.isMissing, back.operations.state], [false, 'ready'])
  assert.deepEqual(act(back, 'access', { access: 'none' }).nodes, { ...initialState.nodes, chosen: 'n1', shown: 'n1' })
})

test('operations need a token that may end each room, and access that ends forgets them', async () => {
  const tokens = new PastedTokens()
  const token = (video) => `e30.${Buffer.from(JSON.stringify({ exp: Date.now() / 1000 + 600, video })).toString('base64url')}.AAAA`
  tokens.add(token({ roomList: true }))
  await assert.rejects(tokens.token(OPERATIONS), { code: 'no_token' })
  tokens.add(token({ roomList: true, roomCreate: true, roomJoin: true }))
  await assert.rejects(tokens.token(OPERATIONS), { code: 'no_token' })
  const full = token({ roomList: true, roomCreate: true })
  tokens.add(full)
  assert.equal(await tokens.token(OPERATIONS), full)
  const act = (state, type, action = {}) => reduce(state, { type, at: 1, ...action })
  const shown = act(act(initialState, 'access', { access: 'key' }), 'operations.loaded', { view: {} })
  assert.deepEqual([shown.operations.state, act(shown, 'operations.failed', { value: 'locked' }).operations, act(shown, 'access', { access: 'none' }).operations.state], ['ready', { state: 'locked', view: null }, 'loading'])
})

// One connection at a time: how it begins, what it resumes, and how it ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle, sockets } from '../support/sockets.js'
import { Connection } from '../../../Web/patchbay/connection.js'
import { gatewayAddress } from '../../../Web/patchbay/dial.js'

const TOKEN = 'a.b.c'

class Client {
  told = []

  constructor(options) {
    sockets.length = 0
    const tell = (name) => (...values) => this.told.push([name, ...values])
    this.connection = new Connection(
      { opened: (_, isFresh) => this.told.push(['opened', isFresh]), message: tell('message'), media: tell('media'), interrupted: tell('interrupted'), ended: tell('ended') }, options)
  }

  static async connected(options) {
    const client = new Client(options)
    const opening = client.connection.open('wss://voice.example', TOKEN)
    client.socket.welcome()
    await opening
    return client
  }

  get socket() {
    return sockets.at(-1)
  }

  names() {
    return this.told.map(([name]) => name)
  }

  /** Ends timers. */
  close() {
    this.connection.close()
  }
}

test('addresses of a gateway', () => {
  const cases = [
    [null, 'wss://page.example'], ['wss://a.example', 'wss://a.example'], ['https://a.example:7880/', 'wss://a.example:7880'],
    ['ws://a.example', 'ws://a.example'], ['http://a.example', 'ws://a.example'], ['wss://a.example/voice/v1/rtc', 'wss://a.example/voice'],
    ['wss://a.example/v1/rtc/', 'wss://a.example'], ['/voice', 'wss://page.example/voice'],
  ]
  for (const [url, expected] of cases) assert.equal(gatewayAddress(url), expected)
  for (const url of ['ftp://a.example', 'mailto:ann@example.org', 'wss://']) assert.throws(() => gatewayAddress(url), { code: 'unsupported_url' }, url)
})

test('the token is in the subprotocol, never in the address', async () => {
  const client = await Client.connected({ autoSubscribe: false })
  assert.equal(client.socket.url, 'wss://voice.example/v1/rtc?auto_subscribe=false')
  assert.deepEqual(client.socket.protocols, ['patchbay.v1', 'patchbay.bearer.a.b.c'])
  client.close()
})

test('what is no token is not sent', async () => {
  const client = new Client()
  for (const token of ['', 'a b', 'a,b', 'ä', undefined, null]) {
    await assert.rejects(client.connection.open('wss://voice.example', token), { code: 'malformed_token', status: 401 }, `${token}`)
  }
  assert.equal(sockets.length, 0)
})

test('a refused upgrade is explained by the gateway', async (context) => {
  const answers = [
    [401, { code: 'token_expired', message: 'it has expired' }, 'token_expired'], [404, {}, 'connection_failed'],
    [404, { code: 'room_not_found', message: 'no room' }, 'room_not_found'], [200, {}, 'connection_failed'],
  ]
  for (const [status, body, code] of answers) {
    const asked = context.mock.method(globalThis, 'fetch', async () => new Response(JSON.stringify(body), { status }))
    const client = new Client()
    const opening = client.connection.open('wss://voice.example', TOKEN)
    client.socket.onclose({ code: 1006 })
    await assert.rejects(opening, { code }, `${status}`)
    assert.equal(asked.mock.calls[0].arguments[0], 'https://voice.example/v1/rtc/validate')
    asked.mock.restore()
  }
})

test('a connection that is closed before hello says why', async () => {
  const client = new Client()
  const opening = client.connection.open('wss://voice.example', TOKEN)
  client.socket.onopen()
  client.socket.onclose({ code: 4105 })
  await assert.rejects(opening, { code: 'closed', closeCode: 4105, message: 'The room is full.' })
})

test('giving up while connecting leaves at once', async () => {
  const client = new Client()
  const opening = client.connection.open('wss://voice.example', TOKEN)
  client.close()
  await assert.rejects(opening, { code: 'cancelled' })
  assert.equal(client.socket.closedWith, 1000)
})

test('replies find their requests, in any order', async () => {
  const client = await Client.connected()
  const [first, second] = [client.connection.request('a'), client.connection.request('b')]
  const [a, b] = ['a', 'b'].map((type) => client.socket.requests(type)[0].id)
  client.socket.tell({ type: 'error', re: b, data: { code: 'not_allowed', message: 'no', retryable: false } })
  client.socket.tell({ type: 'ok', re: a, data: { x: 1 } })
  await assert.rejects(second, { code: 'not_allowed', retryable: false })
  assert.deepEqual(await first, { x: 1 })
  // A reply to nothing.
  client.socket.tell({ type: 'ok', re: 999, data: {} })
  client.close()
})

test('a message that the gateway would not accept is refused here', async () => {
  const client = await Client.connected()
  await assert.rejects(client.connection.request('data.send', { payload: 'ä'.repeat(250) }), { code: 'limit_exceeded' })
  assert.equal(client.socket.requests('data.send').length, 0)
  client.close()
})

test('a lost connection is resumed after the last event', async () => {
  const client = await Client.connected()
  client.socket.tell({ type: 'speakers.changed', seq: 7, data: {} })
  const pending = client.connection.request('a')
  client.socket.onclose({ code: 1006 })
  await assert.rejects(pending, { code: 'connection_lost', retryable: true })
  await settle()
  assert.equal(sockets.length, 2)
  const query = new URL(client.socket.url).searchParams
  assert.deepEqual([query.get('resume'), query.get('last_seq')], ['resume-1', '7'])
  client.socket.welcome({ resumed: true })
  await settle()
  assert.deepEqual(client.names(), ['opened', 'message', 'interrupted', 'opened'])
  assert.equal(client.told.at(-1)[1], false)
  assert.equal(client.connection.reconnects, 1)
  client.close()
})

test('a room that has moved to another node is resumed at once', async () => {
  const client = await Client.connected()
  client.socket.tell({ type: 'bye', seq: 2, data: { reason: 'MIGRATION', retryable: true } })
  client.socket.onclose({ code: 4005 })
  await settle()
  assert.equal(sockets.length, 2)
  assert.equal(new URL(client.socket.url).searchParams.get('resume'), 'resume-1')
  client.socket.welcome({ resumed: true, snapshot: true })
  await settle()
  assert.deepEqual(client.names(), ['opened', 'message', 'interrupted', 'opened'])
  client.close()
})

test('a session whose node is gone is resumed at another one, and stays there', async (context) => {
  context.mock.method(globalThis, 'fetch', async () => { throw new TypeError('no route') })
  context.mock.timers.enable({ apis: ['setTimeout'] })
  // The back-off passes at once.
  const pass = async (span = 300) => {
    context.mock.timers.tick(span)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  const client = new Client()
  const opening = client.connection.open('wss://voice.example', TOKEN)
  client.socket.welcome({ nodes: ['wss://n2.example:7880'] })
  await opening
  const lose = async () => {
    client.socket.onclose({ code: 1006 })
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  await lose()
  await pass(0)
  assert.equal(new URL(client.socket.url).host, 'voice.example')
  await lose()
  await pass()
  assert.equal(new URL(client.socket.url).host, 'n2.example:7880')
  assert.equal(new URL(client.socket.url).searchParams.get('resume'), 'resume-1')
  client.socket.welcome({ resumed: true, nodes: ['wss://n3.example'] })
  await pass(0)
  const hosts = []
  for (let attempt = 0; attempt < 3; attempt++) {
    await lose()
    await pass(1200)
    hosts.push(new URL(client.socket.url).host)
  }
  assert.deepEqual(hosts, ['n2.example:7880', 'n3.example', 'voice.example'])
  client.close()
})

test('a refusal by another node is final', async (context) => {
  const client = new Client()
  const opening = client.connection.open('wss://voice.example', TOKEN)
  client.socket.welcome({ nodes: ['wss://n2.example'] })
  await opening
  context.mock.method(globalThis, 'fetch', async (url) => {
    if (url.includes('voice.example')) throw new TypeError('no route')
    return new Response(JSON.stringify({ code: 'token_expired', message: 'it has expired' }), { status: 401 })
  })
  client.socket.onclose({ code: 1006 })
  await settle()
  client.socket.onclose({ code: 1006 })
  await new Promise((resolve) => setTimeout(resolve, 310))
  client.socket.onclose({ code: 1006 })
  await settle()
  assert.equal(sockets.length, 3)
  assert.deepEqual([client.names().at(-1), client.told.at(-1)[1].reason], ['ended', 'token_expired'])
})

test('without a connection nothing is sent', async () => {
  const client = new Client()
  await assert.rejects(client.connection.request('a'), { code: 'connection_lost' })
  client.connection.notify('a', {})
  client.connection.sendMedia(new Uint8Array(1))
})

test('a refreshed token is used for the next connection', async () => {
  const client = await Client.connected()
  client.socket.tell({ type: 'token.refreshed', seq: 2, data: { token: 'd.e.f' } })
  client.socket.onclose({ code: 1006 })
  await settle()
  assert.deepEqual(client.socket.protocols[1], 'patchbay.bearer.d.e.f')
  client.close()
})

test('after a final code nothing is tried again', async () => {
  for (const code of [1000, 1009, 4100, 4104, 4199]) {
    const client = await Client.connected()
    client.socket.tell({ type: 'bye', seq: 2, data: { reason: 'PARTICIPANT_REMOVED' } })
    client.socket.onclose({ code })
    await settle()
    assert.equal(sockets.length, 1, `${code}`)
    assert.deepEqual(client.told.at(-1)[1].reason, 'PARTICIPANT_REMOVED')
    assert.equal(client.told.at(-1)[1].retryable, false)
  }
})

test('a bye of the old connection that is replayed means nothing for the new one', async () => {
  const client = await Client.connected()
  client.socket.onclose({ code: 4001 })
  await settle()
  client.socket.onopen()
  client.socket.tell({ type: 'bye', seq: 2, data: { reason: 'SERVER_SHUTDOWN' } })
  client.socket.welcome({ resumed: true })
  await settle()
  client.socket.onclose({ code: 4103 })
  assert.equal(client.told.at(-1)[1].reason, 'SIGNAL_CLOSE')
})

test('after leaving, nothing is told any more', async () => {
  const client = await Client.connected()
  const { socket } = client
  client.close()
  assert.equal(socket.closedWith, 1000)
  assert.equal(socket.onmessage, null)
  await settle()
  assert.deepEqual(client.names(), ['opened'])
})

// Procedures that others call: their answers, and what others do not learn.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Emitter, RpcError, describeClosing } from '../../../Web/patchbay/events.js'
import { RemoteProcedures } from '../../../Web/patchbay/rpc.js'

class Gateway {
  isOpen = true
  answers = []
  requests = []
  procedures = new RemoteProcedures(this)

  notify(_type, answer) {
    this.answers.push(answer)
  }

  async request(type, data) {
    this.requests.push([type, data])
    return { payload: 'sunny' }
  }

  async call(method, payload = '') {
    await this.procedures.answer({ request_id: 'r', method, participant: 'eve', payload })
    return this.answers.at(-1)
  }
}

test('a result is sent as a text', async () => {
  const gateway = new Gateway()
  gateway.procedures.register('add', ({ payload }) => Number(payload) + 1)
  gateway.procedures.register('nothing', () => {})
  assert.deepEqual(await gateway.call('add', '41'), { request_id: 'r', payload: '42' })
  assert.deepEqual(await gateway.call('nothing'), { request_id: 'r', payload: '' })
})

test('a method that is unknown, or no longer known, is an error', async () => {
  const gateway = new Gateway()
  gateway.procedures.register('gone', () => 'x')
  gateway.procedures.unregister('gone')
  for (const method of ['gone', 'constructor']) assert.equal((await gateway.call(method)).error.code, 1400)
})

test('an error that is meant for others arrives, any other stays here', async () => {
  const error = mock.method(console, 'error', () => {})
  const gateway = new Gateway()
  gateway.procedures.register('refuse', () => { throw new RpcError(7, 'not now') })
  gateway.procedures.register('fail', async () => { throw new Error('the password is …') })
  assert.deepEqual((await gateway.call('refuse')).error, { code: 7, message: 'not now' })
  assert.deepEqual((await gateway.call('fail')).error, { code: 1500, message: 'the method failed' })
  assert.equal(error.mock.callCount(), 1)
  error.mock.restore()
})

test('an answer that is too long is an error, by bytes', async () => {
  const gateway = new Gateway()
  gateway.procedures.register('long', () => 'ä'.repeat(8000))
  const answer = await gateway.call('long')
  assert.equal(answer.error.code, 1504)
  assert.equal('payload' in answer, false)
})

test('an answer waits for the connection, unless the session is a new one', async () => {
  const gateway = new Gateway()
  gateway.procedures.register('m', () => 'x')
  gateway.isOpen = false
  await gateway.call('m')
  assert.equal(gateway.answers.length, 0)
  gateway.isOpen = true
  gateway.procedures.opened(false)
  assert.equal(gateway.answers.length, 1)
  gateway.isOpen = false
  await gateway.call('m')
  gateway.procedures.opened(true)
  assert.equal(gateway.answers.length, 1)
})

test('a call has a timeout', async () => {
  const gateway = new Gateway()
  assert.equal(await gateway.procedures.perform('robin', 'weather', 'Bern'), 'sunny')
  assert.deepEqual(gateway.requests[0], ['rpc.request', { to: 'robin', method: 'weather', payload: 'Bern', timeout_ms: 10_000 }])
})

test('a listener that throws does not affect the others', () => {
  const error = mock.method(console, 'error', () => {})
  const emitter = new Emitter()
  const heard = []
  emitter.on('x', () => { throw new Error('mine') }).on('x', (value) => heard.push(value))
  emitter.emit('x', 1)
  assert.deepEqual([heard, error.mock.callCount()], [[1], 1])
  error.mock.restore()
})

test('listeners that come and go during an event do not disturb it', () => {
  const emitter = new Emitter()
  const heard = []
  const second = () => heard.push('second')
  emitter.on('x', () => {
    emitter.off('x', second)
    emitter.on('x', () => heard.push('late'))
  })
  emitter.on('x', second)
  emitter.emit('x')
  assert.deepEqual(heard, ['second'])
  assert.equal(emitter.hasListeners('y'), false)
  assert.throws(() => emitter.on('x', null), TypeError)
})

test('every way in which a connection ends has a sentence', () => {
  assert.equal(describeClosing(4105), 'The room is full.')
  assert.match(describeClosing(4999), /4999/)
})

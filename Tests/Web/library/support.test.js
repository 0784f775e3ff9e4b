// The capabilities of browsers without some feature: the reported code, and calls that continue without it.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { Room, checkSupport } from '../../../Web/patchbay.js'
import { encodeFrame } from '../../../Web/patchbay/wire.js'
import { settle, sockets } from '../support/sockets.js'

/** A codec that responds to each input at once, never responds, or rejects the configuration. */
const codec = (kind) => class {
  state = 'unconfigured'

  static isConfigSupported = async () => {
    if (kind === 'throws') throw new TypeError('unknown codec')
    return { supported: kind !== 'refuses' }
  }

  constructor({ output, error }) {
    Object.assign(this, { output, error })
  }

  configure() {
    if (kind === 'breaks') queueMicrotask(() => this.error(new Error('no such codec')))
  }

  encode() {
    this.output({})
  }

  decode() {
    if (kind === 'works') this.output({ numberOfFrames: 960, sampleRate: 48000, close() {} })
    if (kind === 'resamples') this.output({ numberOfFrames: 882, sampleRate: 44100, close() {} })
  }

  async flush() {}

  close() {
    this.state = 'closed'
  }
}

/** A browser; a codec that is null does not exist. */
function browser({ isSecure = true, hasWorklets = true, decoder = 'works', encoder = 'works' } = {}) {
  Object.assign(window, { isSecureContext: isSecure })
  const classes = {
    AudioWorkletNode: hasWorklets ? class {} : undefined,
    AudioDecoder: decoder ? codec(decoder) : undefined,
    AudioEncoder: encoder ? codec(encoder) : undefined,
    AudioData: class { close() {} },
    MediaStream: class {},
    EncodedAudioChunk: class {},
  }
  Object.assign(globalThis, classes)
}

let asked = 0
Object.defineProperty(globalThis, 'navigator', {
  value: { mediaDevices: { getUserMedia: async () => asked++ } }, configurable: true,
})
beforeEach(() => (asked = 0))

test('what is missing is told, and whether listening works without it', async () => {
  const cases = [
    [{}, true, true, undefined],
    [{ encoder: null }, false, true, 'no_encoder'], [{ encoder: 'refuses' }, false, true, 'no_encoder'], [{ encoder: 'throws' }, false, true, 'no_encoder'],
    [{ decoder: null }, false, false, 'no_decoder'], [{ decoder: 'refuses' }, false, false, 'no_decoder'], [{ decoder: 'throws' }, false, false, 'no_decoder'],
    [{ decoder: 'breaks' }, false, false, 'no_decoder'], [{ decoder: 'resamples' }, false, false, 'no_decoder'], [{ decoder: 'silent' }, false, false, 'no_decoder'],
    [{ decoder: null, encoder: null }, false, false, 'no_decoder'], [{ hasWorklets: false }, false, false, 'no_worklet'],
    [{ isSecure: false, hasWorklets: false, decoder: null, encoder: null }, false, false, 'insecure_page'],
  ]
  for (const [parts, audio, listening, code] of cases) {
    browser(/** @type {object} */ (parts))
    const support = await checkSupport()
    assert.deepEqual([support.audio, support.listening, support.code], [audio, listening, code], JSON.stringify(parts))
    assert.equal(/You can (listen|read) and type/.test(support.reason ?? ''), code !== undefined, JSON.stringify(parts))
  }
})

test('without a decoder, a room connects and sends text; it plays nothing, and says so', async () => {
  browser({ decoder: null, encoder: null })
  const room = new Room()
  const told = []
  room.on('audioBlocked', (reason) => told.push(reason))
  const connecting = room.connect('wss://gateway.example', 'a.b.c')
  await settle()
  const socket = sockets.at(-1)
  const track = { sid: 'TR_1', alias: 1, name: 'voice', source: 'assistant', mode: 'ahead', muted: false, channels: 1, epoch: 0 }
  const member = (identity, tracks) => ({ sid: `PA_${identity}`, identity, name: '', kind: 'standard', metadata: '', attributes: {}, joined_at: 0, tracks, connected: true, held: false, quality: 'good' })
  socket.welcome({ room: { sid: 'RM_1', name: 'r', metadata: '' }, participant: member('me', []), participants: [member('agent', [track])] })
  await connecting
  assert.deepEqual([room.state, told, room.audioBlocked, room.audioBlockage], ['connected', ['unsupported'], true, 'unsupported'])
  await assert.rejects(room.startAudio(), /cannot decode Opus/)
  room.tap('agent', () => assert.fail('nothing is played'))()
  room.tap(null, () => assert.fail('nothing is played'))()
  const frame = encodeFrame({ alias: 1, sequence: 1, timestamp: 0, level: -20, voice: true }, new Uint8Array(12))
  socket.onmessage({ data: frame.buffer })
  assert.equal(room.stats().framesReceived, 0)
  room.sendText('still here').catch(() => {})
  await settle()
  assert.equal(socket.requests('text.send').length, 1)
  await assert.rejects(room.localParticipant.setMicrophoneEnabled(true), { code: 'unsupported', message: /read and type/ })
  assert.equal(asked, 0)
  room.disconnect()
})

test('without an encoder, the browser is not asked for the microphone', async () => {
  browser({ encoder: 'refuses' })
  const room = new Room()
  await assert.rejects(room.localParticipant.setMicrophoneEnabled(true), { name: 'MicrophoneError', code: 'unsupported', message: /listen and type/ })
  const track = Object.assign(new EventTarget(), { kind: 'audio', readyState: 'live', label: 'radio' })
  await assert.rejects(room.localParticipant.publishTrack(/** @type {any} */ (track)), { code: 'unsupported' })
  assert.deepEqual([asked, room.localParticipant.microphoneEnabled], [0, false])
})

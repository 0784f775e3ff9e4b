// What this page publishes: the microphone and tracks of the page, through lost connections, mutes and requests that fail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestError } from '../../../Web/patchbay/events.js'
import { LocalParticipant } from '../../../Web/patchbay/local-participant.js'
import { decodeMessage } from '../../../Web/patchbay/wire.js'
import { settle } from '../support/sockets.js'

// What browsers have, as far as capturing uses it. Every encoder encodes at once.

class Track extends EventTarget {
  kind = 'audio'
  readyState = 'live'
  wasStopped = false

  constructor(label = 'radio') {
    super()
    this.label = label
  }

  stop() {
    this.wasStopped = true
  }
}

class Encoder {
  state = 'configured'

  static isConfigSupported = async () => ({ supported: true })

  constructor({ output }) {
    this.output = output
  }

  configure() {}

  encode({ timestamp }) {
    this.output({ timestamp, byteLength: 3, copyTo() {} })
  }

  close() {
    this.state = 'closed'
  }
}

Object.assign(globalThis, {
  AudioEncoder: Encoder,
  AudioDecoder: class { static isConfigSupported = async () => ({ supported: true }) },
  AudioWorkletNode: class {},
  AudioData: class { constructor({ timestamp }) { this.timestamp = timestamp } close() {} },
  MediaStream: class { constructor(tracks) { this.getTracks = this.getAudioTracks = () => tracks } },
  MediaStreamAudioSourceNode: class { connect() {} disconnect() {} },
})
Object.assign(window, { isSecureContext: true })
Object.defineProperty(globalThis, 'navigator', { value: { mediaDevices: { getUserMedia: async () => new MediaStream([new Track('microphone')]) } }, configurable: true })

class World {
  isOpen = true
  bufferedAmount = 0
  requests = []
  sent = []
  told = []
  failure = null
  #taps = []
  #next = 1

  constructor() {
    const output = {
      context: {}, prepare: async () => {}, bus: () => {},
      tap: (_source, listener) => {
        const tap = { listener, at: 0 }
        this.#taps.push(tap)
        return () => (this.#taps = this.#taps.filter((one) => one !== tap))
      },
    }
    this.local = new LocalParticipant(this, output, {
      microphoneEnded: (reason) => this.told.push(['microphoneEnded', reason]), localTrackEnded: (track, reason) => this.told.push(['localTrackEnded', track.label, reason]),
    })
  }

  // The connection.

  async request(type, data) {
    this.requests.push(type)
    if (this.failure) throw new RequestError(this.failure, 'refused')
    return type === 'track.publish' ? { track: this.description(this.#next++, data.name) } : {}
  }

  sendMedia(bytes) {
    this.sent.push(decodeMessage(bytes.buffer)[0])
  }

  // The story.

  description(number, name, values) {
    return { sid: `TR_${number}`, alias: number, name, source: 'microphone', muted: false, epoch: 0, ...values }
  }

  /** 20 ms of sound in everything that is captured. */
  sound(frames = 1, value = 0.5) {
    for (let count = 0; count < frames; count++) {
      for (const tap of this.#taps) tap.listener(new Float32Array(960).fill(value), (tap.at += 960))
    }
    return this.sent.splice(0)
  }

  take() {
    return this.requests.splice(0)
  }

  lose() {
    this.isOpen = false
    this.failure = 'connection_lost'
  }

  async resume(...tracks) {
    this.isOpen = true
    this.failure = null
    this.take()
    this.local.reconnected(tracks)
    await settle()
    return this.take()
  }
}

const aliases = (frames) => frames.map(({ alias }) => alias)

test('a track of the page is published beside the microphone, each with numbers of its own', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  const published = await world.local.publishTrack(new Track())
  assert.deepEqual([published.name, published.sid, world.local.tracks.size], ['radio', 'TR_2', 2])
  const frames = world.sound(3)
  assert.deepEqual(frames.map(({ alias, sequence }) => [alias, sequence]), [[1, 0], [2, 0], [1, 1], [2, 1], [1, 2], [2, 2]])
  assert.deepEqual(frames.map(({ timestamp }) => timestamp), [960, 960, 1920, 1920, 2880, 2880])
})

test('muting the microphone does not mute the track, and the other way round', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  const published = await world.local.publishTrack(new Track())
  await world.local.setMuted(true)
  assert.deepEqual([aliases(world.sound()), world.local.muted, published.muted], [[2], true, false])
  await world.local.setMuted(false)
  await published.setMuted(true)
  assert.deepEqual(aliases(world.sound()), [1])
})

test('an unpublished track goes on in the page', async () => {
  const world = new World()
  const track = new Track()
  await world.local.publishTrack(track)
  world.sound(5)
  await world.local.unpublishTrack(track)
  assert.deepEqual([world.sound(), track.wasStopped, world.local.tracks.size, world.local.framesSent], [[], false, 0, 5])
  await world.local.unpublishTrack(track)
  assert.deepEqual(world.take(), ['track.publish', 'track.unpublish'])
  // It can be published again.
  assert.equal((await world.local.publishTrack(track)).sid, 'TR_2')
})

test('the microphone is stopped when it is turned off', async () => {
  const world = new World()
  const microphone = new Track('microphone')
  navigator.mediaDevices.getUserMedia = async () => new MediaStream([microphone])
  await world.local.setMicrophoneEnabled(true)
  await world.local.setMicrophoneEnabled(false)
  assert.equal(microphone.wasStopped, true)
})

test('what cannot be published is refused', async () => {
  const world = new World()
  const track = new Track()
  await world.local.publishTrack(track)
  await assert.rejects(world.local.publishTrack(track), /already published/)
  await assert.rejects(world.local.publishTrack(Object.assign(new Track(), { kind: 'video' })), TypeError)
  await assert.rejects(world.local.publishTrack(Object.assign(new Track(), { readyState: 'ended' })), { code: 'failed' })
  world.failure = 'not_allowed'
  await assert.rejects(world.local.publishTrack(new Track()), { name: 'MicrophoneError', code: 'failed' })
  world.failure = null
  assert.deepEqual(aliases(world.sound()), [1])
})

test('after a resume, tracks go on, and each finds its own', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  await world.local.publishTrack(new Track('microphone'))
  world.sound()
  world.lose()
  assert.deepEqual(world.sound(), [])
  // In another order, and with the same name.
  const requests = await world.resume(world.description(2, 'microphone'), world.description(1, 'microphone'))
  assert.deepEqual(requests, [])
  assert.deepEqual(world.sound().map(({ alias, flags }) => [alias, flags & 0x80]), [[1, 0x80], [2, 0x80]])
})

test('after a new join, everything is published again, with its mutes', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  const published = await world.local.publishTrack(new Track())
  await published.setMuted(true)
  world.lose()
  assert.deepEqual(await world.resume(), ['track.publish', 'track.publish', 'track.mute'])
  assert.deepEqual([published.sid, published.muted, aliases(world.sound())], ['TR_4', true, [3]])
})

test('a track whose reply was lost is found by its name, not published twice', async () => {
  const world = new World()
  world.lose()
  world.isOpen = true
  const published = await world.local.publishTrack(new Track())
  assert.equal(published.sid, '')
  assert.deepEqual(await world.resume(world.description(7, 'radio')), [])
  assert.equal(published.sid, 'TR_7')
})

test('a track that was unpublished while the connection was lost is unpublished then', async () => {
  const world = new World()
  const track = new Track()
  await world.local.publishTrack(track)
  world.lose()
  await world.local.unpublishTrack(track)
  assert.deepEqual(await world.resume(world.description(1, 'radio')), ['track.unpublish'])
  assert.deepEqual(await world.resume(world.description(1, 'radio')), [])
})

test('a mute that a lost connection swallowed is repeated', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  world.lose()
  await world.local.setMuted(true)
  assert.deepEqual(await world.resume(world.description(1, 'microphone')), ['track.mute'])
})

test('what others have muted stays muted after a resume', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  world.lose()
  assert.deepEqual(await world.resume(world.description(1, 'microphone', { muted: true })), [])
  assert.equal(world.local.muted, true)
})

test('a mute that is refused is taken back', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  world.failure = 'not_allowed'
  await assert.rejects(world.local.setMuted(true), { code: 'not_allowed' })
  assert.equal(world.local.muted, false)
})

test('a track that ends is unpublished, and so is one that the gateway ends', async () => {
  const world = new World()
  const [ended, removed] = [new Track('file'), new Track('radio')]
  await world.local.publishTrack(ended)
  await world.local.publishTrack(removed)
  ended.dispatchEvent(new Event('ended'))
  world.local.noteUnpublished({ sid: 'TR_2' })
  await settle()
  assert.deepEqual(world.told, [['localTrackEnded', 'file', 'The track has ended.'], ['localTrackEnded', 'radio', 'The gateway ended the track.']])
  // The gateway knows of the second one.
  assert.deepEqual(world.take(), ['track.publish', 'track.publish', 'track.unpublish'])
  assert.deepEqual(world.sound(), [])
})

test('a microphone that the gateway ends, or that is unplugged, is told', async () => {
  const world = new World()
  const microphone = new Track('microphone')
  navigator.mediaDevices.getUserMedia = async () => new MediaStream([microphone])
  await world.local.setMicrophoneEnabled(true)
  world.local.noteUnpublished({ sid: 'TR_1' })
  await settle()
  assert.deepEqual([world.told.splice(0), world.local.microphoneEnabled], [[['microphoneEnded', 'The gateway ended the track.']], false])
  await world.local.setMicrophoneEnabled(true)
  microphone.dispatchEvent(new Event('ended'))
  await settle()
  assert.deepEqual(world.told, [['microphoneEnded', 'The microphone was disconnected.']])
})

test('silence is not sent, unless the track is music', async () => {
  const world = new World()
  await world.local.publishTrack(new Track('talk'))
  await world.local.publishTrack(new Track('music'), { dtx: false })
  world.sound(50, 0)
  assert.deepEqual(aliases(world.sound(3, 0)), [2, 2, 2])
})

test('a connection that is too slow drops frames, which are counted', async () => {
  const world = new World()
  await world.local.setMicrophoneEnabled(true)
  world.sound(2)
  world.bufferedAmount = 5000
  assert.deepEqual(world.sound(3), [])
  world.bufferedAmount = 0
  assert.deepEqual(world.sound().map(({ sequence }) => sequence), [5])
  assert.deepEqual([world.local.framesSent, world.local.framesDropped], [3, 3])
})

test('on hold, nothing is sent', async () => {
  const world = new World()
  await world.local.publishTrack(new Track())
  world.local.held = true
  assert.deepEqual(world.sound(), [])
})

test('after the call, nothing is published, and the page’s track goes on', async () => {
  const world = new World()
  const track = new Track()
  await world.local.publishTrack(track)
  world.sound()
  const opening = world.local.publishTrack(new Track('late'))
  world.local.close()
  await assert.rejects(opening, { code: 'cancelled' })
  assert.deepEqual([world.sound(), track.wasStopped, world.local.tracks.size, world.local.framesSent], [[], false, 0, 1])
  assert.deepEqual(await world.resume(), [])
})

// Frames of a subscribed track: what is repeated, lost, cleared and played.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReceivedTrack } from '../../../Web/patchbay/received-track.js'
import { ReceivedTracks } from '../../../Web/patchbay/received-tracks.js'

/** Decodes at once; every packet is a frame. */
globalThis.AudioDecoder = class {
  state = 'configured'

  constructor({ output }) {
    this.output = output
  }

  configure() {}

  decode() {
    this.output({ numberOfFrames: 960, numberOfChannels: 1, copyTo() {}, close() {} })
  }

  close() {
    this.state = 'closed'
  }
}
globalThis.EncodedAudioChunk = class {}

class Output {
  isRunning = true
  latency = 0
  played = []
  clears = 0

  bus() {}

  takeSamples(count) {
    return new Float32Array(count)
  }

  createPlayer(_bus, { report }) {
    this.report = report
    return { play: (ts) => this.played.push(ts), clear: () => this.clears++, close: () => {} }
  }
}

class World {
  output = new Output()
  progress = []

  constructor(values) {
    const track = { sid: 'TR_1', alias: 1, participant: 'robin', mode: 'ahead', channels: 1, epoch: 0, ...values }
    this.track = new ReceivedTrack(track, this.output, 60, { progress: (report) => this.progress.push(report), heard: () => {} })
  }

  receive(sequence, values = {}) {
    this.track.receive({ alias: 1, sequence, timestamp: sequence * 960, epoch: 0, level: -30, flags: 0, packet: new Uint8Array(3), ...values })
    return this
  }

  get counts() {
    const { framesReceived, framesLost, framesCleared } = this.track
    return [framesReceived, framesLost, framesCleared]
  }
}

test('missing frames are counted, also where sequence numbers wrap', () => {
  const world = new World()
  for (const sequence of [65_533, 65_534, 1, 2]) world.receive(sequence)
  assert.deepEqual(world.counts, [4, 2, 0])
})

test('frames that are repeated after a resume are played once', () => {
  const world = new World()
  for (const sequence of [65_535, 0, 1, 65_535, 0, 1, 2]) world.receive(sequence)
  assert.deepEqual(world.counts, [4, 0, 0])
  assert.equal(world.output.played.length, 4)
})

test('after a gap of half the numbers, what seems to be far back is new', () => {
  const world = new World()
  world.receive(0).receive(40_000)
  assert.equal(world.counts[0], 2)
})

test('a new join counts anew', () => {
  const world = new World()
  world.receive(10)
  world.track.resync()
  world.receive(50_000)
  assert.deepEqual(world.counts, [2, 0, 0])
})

test('a new epoch clears what was not played, and its gap is no loss', () => {
  const world = new World()
  world.receive(1).receive(5, { epoch: 1 })
  assert.deepEqual(world.counts, [2, 0, 3])
  assert.equal(world.output.clears, 1)
})

test('frames of an old epoch that arrive late are not played', () => {
  const world = new World({ epoch: 255 })
  world.receive(1, { epoch: 255 }).receive(2, { epoch: 0 }).receive(3, { epoch: 255 })
  assert.deepEqual(world.counts, [2, 0, 0])
})

test('the same clear twice, by frame and by event, clears once', () => {
  const world = new World()
  world.receive(1).receive(2, { epoch: 1 })
  world.track.clear(1)
  assert.equal(world.output.clears, 1)
})

test('silenced at once, the rest of the epoch is not played; a refusal lifts it', () => {
  const world = new World()
  world.receive(1)
  world.track.silence()
  world.receive(2)
  assert.equal(world.output.played.length, 1)
  world.track.unsilence()
  world.receive(3)
  assert.equal(world.output.played.length, 2)
})

test('comfort noise between silence is decoded and not played', () => {
  const world = new World()
  world.receive(1).receive(2, { flags: 0x20 }).receive(3)
  assert.equal(world.output.played.length, 2)
})

test('what arrives while nothing can be heard is counted, not decoded', () => {
  const world = new World()
  world.output.isRunning = false
  world.receive(1)
  assert.deepEqual([world.counts[0], world.output.played.length], [1, 0])
})

test('media time continues across the wrap', () => {
  const world = new World()
  world.receive(1, { timestamp: 2 ** 32 - 960 }).receive(2, { timestamp: 0 })
  assert.deepEqual(world.output.played, [2 ** 32 - 960, 2 ** 32])
})

test('the gateway is told in 32 bits how far was played', () => {
  const world = new World()
  world.receive(1, { timestamp: 2 ** 32 - 960 }).receive(2, { timestamp: 0 })
  world.output.report({ generation: 0, played: 2 ** 32 + 480, buffered: 480 })
  assert.deepEqual(world.progress, [{ track: 'TR_1', epoch: 0, played_ts: 480, buffered_ms: 10 }])
})

test('a report that crossed a clear is ignored', () => {
  const world = new World()
  world.receive(1)
  world.track.clear(1)
  world.progress.length = 0
  world.output.report({ generation: 0, played: 5000, buffered: 0 })
  assert.deepEqual(world.progress, [])
})

test('figures outlive a track, and frames of unknown tracks are ignored', () => {
  const world = new World()
  let isKnown = true
  const tracks = new ReceivedTracks(() => (isKnown ? world.track : undefined))
  const frame = { alias: 1, timestamp: 0, epoch: 0, level: 0, flags: 0, packet: new Uint8Array(1) }
  for (const sequence of [1, 4]) tracks.receive({ ...frame, sequence })
  tracks.end(1)
  isKnown = false
  tracks.receive({ ...frame, alias: 9, sequence: 1 })
  const { framesReceived, framesLost } = tracks.stats()
  assert.deepEqual([framesReceived, framesLost], [2, 2])
})

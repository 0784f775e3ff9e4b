// Frames and bundles as they come from the network, and counters that wrap.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER_BYTES, TimestampUnwrapper, decodeMessage, distance, encodeFrame, flag, measureLevel } from '../../../Web/patchbay/wire.js'

const frame = (values = {}, packet = [1, 2, 3]) =>
  encodeFrame({ alias: 7, sequence: 1, timestamp: 960, level: -20, voice: true, ...values }, Uint8Array.from(packet))

/** A bundle that claims `count` frames. */
function bundle(frames, count = frames.length) {
  const bytes = [0x42, count]
  for (const one of frames) bytes.push(one.length >> 8, one.length & 0xff, ...one)
  return Uint8Array.from(bytes).buffer
}

const sequences = (buffer) => decodeMessage(buffer).map(({ sequence }) => sequence)

test('a frame is decoded as it was encoded', () => {
  const [decoded] = decodeMessage(frame({ flags: flag.start | flag.dtx, epoch: 255, level: -31.4 }).buffer)
  assert.deepEqual(decoded, {
    flags: 0xa0, alias: 7, sequence: 1, voice: true, level: -31, epoch: 255, timestamp: 960, packet: Uint8Array.of(1, 2, 3),
  })
})

test('sequence numbers and timestamps wrap when they are encoded', () => {
  const [decoded] = decodeMessage(frame({ sequence: 65_536 + 3, timestamp: 2 ** 32 + 5 }).buffer)
  assert.deepEqual([decoded.sequence, decoded.timestamp], [3, 5])
})

test('timestamps above 2^31 are not negative', () => {
  assert.equal(decodeMessage(frame({ timestamp: 0xffff_fff0 }).buffer)[0].timestamp, 0xffff_fff0)
})

test('levels are cut to the range of the header', () => {
  const levels = [3, 0, -127, -200].map((level) => -decodeMessage(frame({ level }).buffer)[0].level)
  assert.deepEqual(levels, [0, 0, 127, 127])
})

test('a bundle is decoded in order', () => {
  assert.deepEqual(sequences(bundle([1, 2, 3].map((sequence) => frame({ sequence })))), [1, 2, 3])
})

test('of a bundle cut short, what is complete is kept', () => {
  const whole = bundle([1, 2, 3].map((sequence) => frame({ sequence })))
  const size = 2 + HEADER_BYTES + 3
  assert.deepEqual(sequences(whole.slice(0, 2 + 2 * size + 1)), [1, 2])
  assert.deepEqual(sequences(whole.slice(0, 2 + 3 * size - 1)), [1, 2])
  assert.deepEqual(sequences(whole.slice(0, 3)), [])
})

test('no cut of a bundle throws', () => {
  const whole = bundle([1, 2, 3].map((sequence) => frame({ sequence })))
  for (let length = 0; length <= whole.byteLength; length++) decodeMessage(whole.slice(0, length))
})

test('a bundle with a wrong count yields only frames that are there', () => {
  assert.deepEqual(sequences(bundle([frame()], 200)), [1])
  assert.deepEqual(sequences(bundle([frame(), frame({ sequence: 2 })], 1)), [1])
})

test('frames of another kind in a bundle are skipped', () => {
  assert.deepEqual(sequences(bundle([Uint8Array.of(0x77, 1, 2), frame({ sequence: 9 }), new Uint8Array(0)])), [9])
})

test('a frame without a packet is none', () => {
  assert.deepEqual(decodeMessage(frame({}, []).buffer), [])
  assert.deepEqual(decodeMessage(new ArrayBuffer(0)), [])
  assert.deepEqual(decodeMessage(new ArrayBuffer(1)), [])
})

test('distances wrap at 8, 16 and 32 bits', () => {
  const cases = [
    [1, 255, 8, 2], [255, 1, 8, -2], [0, 65_535, 16, 1], [65_535, 0, 16, -1], [5, 0xffff_fffb, 32, 10], [0xffff_fffb, 5, 32, -10], [7, 7, 32, 0],
    // Halfway round, the answer is the negative one.
    [128, 0, 8, -128], [2 ** 31, 0, 32, -(2 ** 31)],
  ]
  for (const [a, b, bits, expected] of cases) assert.equal(distance(a, b, bits), expected, `${a} from ${b} in ${bits} bits`)
})

test('timestamps go on after they wrap, and back again', () => {
  const timestamps = new TimestampUnwrapper()
  const found = [0xffff_fc40, 0, 960, 0xffff_fc40].map((timestamp) => timestamps.unwrap(timestamp))
  assert.deepEqual(found, [2 ** 32 - 960, 2 ** 32, 2 ** 32 + 960, 2 ** 32 - 960])
})

test('timestamps wrap many times without losing precision', () => {
  const timestamps = new TimestampUnwrapper()
  let last = timestamps.unwrap(0)
  for (let step = 1; step <= 40; step++) last = timestamps.unwrap((step * 0x2000_0000) >>> 0)
  assert.equal(last, 40 * 0x2000_0000)
})

test('a timestamp before the first one is negative', () => {
  const timestamps = new TimestampUnwrapper()
  timestamps.unwrap(100)
  assert.equal(timestamps.unwrap(0xffff_ffff), -1)
})

test('levels are in dBov', () => {
  assert.equal(measureLevel(new Float32Array(960)), -127)
  assert.equal(measureLevel(new Float32Array(960).fill(1)), 0)
  assert.equal(measureLevel(new Float32Array(960).fill(2)), 0)
  assert.equal(Math.round(measureLevel(new Float32Array(960).fill(0.1))), -20)
})

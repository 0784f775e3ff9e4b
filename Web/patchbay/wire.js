// Media frames and bundles (docs/protocol/media.md), and arithmetic on counters that wrap.

export const SAMPLE_RATE = 48000
export const SAMPLES_PER_MS = SAMPLE_RATE / 1000
export const FRAME_SAMPLES = 960
export const HEADER_BYTES = 12

export const flag = { start: 0x80, end: 0x40, dtx: 0x20, fec: 0x10, discontinuity: 0x08 }

const AUDIO_FRAME = 0x41
const BUNDLE = 0x42

/**
 * Encodes a frame. `level` is 0 to -127 dBov.
 * @returns {Uint8Array}
 */
export function encodeFrame({ alias, sequence, timestamp, level, voice, flags = 0, epoch = 0 }, packet) {
  const bytes = new Uint8Array(HEADER_BYTES + packet.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, AUDIO_FRAME)
  view.setUint8(1, flags)
  view.setUint16(2, alias)
  view.setUint16(4, sequence & 0xffff)
  view.setUint8(6, (voice ? 0x80 : 0) | Math.min(127, Math.max(0, Math.round(-level))))
  view.setUint8(7, epoch)
  view.setUint32(8, timestamp >>> 0)
  bytes.set(packet, HEADER_BYTES)
  return bytes
}

/**
 * Decodes a binary message into frames: one, or those of a bundle. Malformed parts are skipped: frames of a later protocol
 * version are not an error.
 */
export function decodeMessage(buffer) {
  const view = new DataView(buffer)
  if (view.byteLength < 2) return []
  if (view.getUint8(0) !== BUNDLE) {
    const frame = decodeFrame(buffer, 0, view.byteLength)
    return frame ? [frame] : []
  }
  const frames = []
  let offset = 2
  for (let remaining = view.getUint8(1); remaining > 0 && offset + 2 <= view.byteLength; remaining--) {
    const length = view.getUint16(offset)
    offset += 2
    if (offset + length > view.byteLength) break
    const frame = decodeFrame(buffer, offset, length)
    if (frame) frames.push(frame)
    offset += length
  }
  return frames
}

function decodeFrame(buffer, offset, length) {
  if (length <= HEADER_BYTES) return null
  const view = new DataView(buffer, offset, length)
  if (view.getUint8(0) !== AUDIO_FRAME) return null
  const levelByte = view.getUint8(6)
  return {
    flags: view.getUint8(1),
    alias: view.getUint16(2),
    sequence: view.getUint16(4),
    voice: levelByte >= 0x80,
    level: -(levelByte & 0x7f),
    epoch: view.getUint8(7),
    timestamp: view.getUint32(8),
    packet: new Uint8Array(buffer, offset + HEADER_BYTES, length - HEADER_BYTES),
  }
}

/** The signed distance from `b` to `a` on a counter of 8, 16 or 32 bits. */
export function distance(a, b, bits) {
  const shift = 32 - bits
  return ((a - b) << shift) >> shift
}

/** Extends 32-bit timestamps to numbers that do not wrap. */
export class TimestampUnwrapper {
  #last = null

  /** Returns the timestamp closest to the last one that is congruent to `timestamp`. */
  unwrap(timestamp) {
    this.#last = this.#last === null ? timestamp : this.#last + distance(timestamp, this.#last >>> 0, 32)
    return this.#last
  }
}

/** The level of samples between -1 and 1 in dBov, 0 to -127. */
export function measureLevel(samples) {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const rms = Math.sqrt(sum / samples.length)
  return rms > 0 ? Math.min(0, Math.max(-127, 20 * Math.log10(rms))) : -127
}

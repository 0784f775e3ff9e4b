// Voice activity by level: what starts a talkspurt, what ends it, and what is not sent. A frame has 20 ms.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VoiceDetector } from '../../../Web/patchbay/audio-capture.js'

const SILENCE = -90
const SPEECH = -25

const decide = (detector, ...levels) => levels.map((level) => detector.decide(level))
const frames = (count, level) => Array(count).fill(level)

test('speech lasts until 300 ms after the last loud frame', () => {
  const detector = new VoiceDetector()
  decide(detector, ...frames(50, SILENCE))
  const voiced = decide(detector, ...frames(5, SPEECH), ...frames(30, SILENCE)).map(({ voice }) => voice)
  assert.equal(voiced.filter(Boolean).length, 5 + 14)
  assert.ok(voiced[0] && !voiced.at(-1))
})

test('a talkspurt has one last frame', () => {
  const detector = new VoiceDetector()
  decide(detector, ...frames(50, SILENCE))
  const last = decide(detector, ...frames(5, SPEECH), ...frames(60, SILENCE)).filter(({ isLast }) => isLast)
  assert.deepEqual(last, [{ voice: true, isLast: true, isSent: true }])
})

test('after 200 ms of silence nothing is sent', () => {
  const detector = new VoiceDetector()
  const sent = decide(detector, ...frames(40, SILENCE)).map(({ isSent }) => isSent)
  assert.deepEqual([sent.slice(0, 10).every(Boolean), sent.slice(11).some(Boolean)], [true, false])
})

test('a pause within a sentence starts no new talkspurt', () => {
  const detector = new VoiceDetector()
  decide(detector, ...frames(50, SILENCE), ...frames(5, SPEECH))
  assert.equal(detector.takeStart(false), true)
  decide(detector, ...frames(10, SILENCE), ...frames(5, SPEECH))
  assert.equal(detector.takeStart(false), false)
  decide(detector, ...frames(40, SILENCE), SPEECH)
  assert.equal(detector.takeStart(false), true)
})

test('frames after a gap in time start a talkspurt', () => {
  const detector = new VoiceDetector()
  decide(detector, SPEECH)
  detector.takeStart(false)
  assert.equal(detector.takeStart(true), true)
})

test('constant noise becomes silence', () => {
  const detector = new VoiceDetector()
  const found = decide(detector, ...frames(1500, -40))
  assert.equal(found.at(-1).voice, false)
  assert.equal(found.at(-1).isSent, false)
})

test('speech above noise is still speech', () => {
  const detector = new VoiceDetector()
  decide(detector, ...frames(1500, -50))
  assert.equal(detector.decide(-30).voice, true)
})

// The worklet that plays a track, and the estimate of the network's delay: in a world whose time the test moves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clock, processors, render } from '../support/worklet.js'

const { DelayEstimator, MILLISECOND } = await import('../../../Web/patchbay/delay-estimator.js')
await import('../../../Web/patchbay/playback-worklet.js')

const FRAME = 960

/** A track that is played, and the frames that arrive for it. */
class Track {
  generation = 0
  // Since the first frame was sent, in samples: the media time of a frame that is sent now.
  now = 0
  #due = []

  constructor(mode = 'live', startDelay = 60) {
    this.player = new processors['patchbay-playback']({ processorOptions: { mode, startDelay } })
    render(this.player, 5 * FRAME)
  }

  arrive(ts, value = 0.5) {
    this.player.port.onmessage({ data: { type: 'audio', ts, samples: new Float32Array(FRAME).fill(value) } })
  }

  clear() {
    this.player.port.onmessage({ data: { type: 'clear', generation: ++this.generation } })
  }

  /** A frame is sent every 20 ms, and arrives `late(index)` ms later. Returns what is played meanwhile. `from`: its media time. */
  talk(frames, { from = this.now, late = (_index) => 0 } = {}) {
    for (let index = 0; index < frames; index++) this.#due.push({ at: this.now + index * FRAME + late(index) * MILLISECOND, ts: from + index * FRAME })
    this.#due.sort((a, b) => a.at - b.at)
    return this.rest(frames * 20)
  }

  rest(milliseconds) {
    const began = this.now
    this.now += milliseconds * MILLISECOND
    return render(this.player, milliseconds * MILLISECOND, (at) => {
      while (this.#due.length && this.#due[0].at <= began + at) this.arrive(this.#due.shift().ts)
    })
  }

  get report() {
    return this.player.port.sent.at(-1).report
  }

  get reports() {
    return this.player.port.sent.map(({ report }) => report)
  }
}

/** When something is heard first, in milliseconds. */
const begin = (samples) => samples.findIndex((sample) => Math.abs(sample) > 0.001) / MILLISECOND
const gaps = (samples) => samples.slice(samples.findIndex((sample) => sample !== 0)).filter((sample) => sample === 0).length

test('a live track begins after its start delay', () => {
  const heard = new Track().talk(50)
  assert.ok(Math.abs(begin(heard) - 60) < 4, `after ${begin(heard)} ms`)
})

test('frames that arrive steadily are played without a gap', () => {
  const heard = new Track().talk(250)
  assert.equal(gaps(heard), 0)
})

test('the delay covers the jitter that it was made for', () => {
  const track = new Track()
  const heard = track.talk(250, { late: (index) => (index % 3) * 15 })
  assert.deepEqual([gaps(heard), track.report.late, track.report.underruns], [0, 0, 0])
})

test('more jitter raises the delay', () => {
  const track = new Track()
  track.talk(200, { late: (index) => (index % 4 === 1 ? 90 : 0) })
  track.rest(500)
  const calm = track.talk(250, { late: (index) => (index % 4 === 1 ? 90 : 0) })
  assert.ok(track.report.delay > 85, `${track.report.delay} ms`)
  assert.equal(gaps(calm), 0)
})

test('after five steady seconds the delay falls, and a late frame raises it again', () => {
  const track = new Track()
  track.talk(260)
  track.rest(400)
  track.talk(100)
  assert.ok(Math.abs(track.report.delay - 40) < 4, `${track.report.delay} ms`)
  track.talk(60, { late: (index) => (index === 30 ? 39 : 0) })
  track.rest(400)
  track.talk(20)
  assert.ok(Math.abs(track.report.delay - 60) < 6, `${track.report.delay} ms`)
})

test('a burst after a stall is skipped down to the delay again', () => {
  const track = new Track()
  track.talk(100)
  // Half a second is stuck on the way, and arrives at once.
  track.talk(25, { late: (index) => 500 - index * 20 })
  track.talk(200)
  assert.ok(track.report.delay < 100, `${track.report.delay} ms`)
  assert.ok(track.report.skipped > 300, `${track.report.skipped} ms skipped`)
})

test('speech ahead of real time is played completely', () => {
  const track = new Track('ahead')
  for (let index = 0; index < 100; index++) track.arrive(index * FRAME)
  const heard = track.rest(2200)
  const played = heard.filter((sample) => sample !== 0).length
  assert.ok(Math.abs(played - 100 * FRAME) < 256, `${played / FRAME} frames`)
  assert.deepEqual([track.report.skipped, track.report.buffered, track.report.played], [0, 0, 100 * FRAME])
})

test('a clear is silent within 3 ms, and later reports carry its number', () => {
  const track = new Track('ahead')
  for (let index = 0; index < 100; index++) track.arrive(index * FRAME)
  track.rest(500)
  track.clear()
  const heard = track.rest(100)
  assert.ok(heard.findLastIndex((sample) => sample !== 0) < 3 * MILLISECOND)
  assert.deepEqual([track.report.generation, track.report.played], [1, null])
  track.arrive(500 * FRAME)
  assert.ok(track.rest(200).some((sample) => sample !== 0))
})

test('a track whose clock stood still is heard again', () => {
  const track = new Track()
  track.talk(50)
  track.rest(1000)
  // From now on, everything is a second late.
  const heard = track.talk(150, { from: 50 * FRAME })
  assert.ok(begin(heard) < 1500, `after ${begin(heard)} ms`)
  assert.equal(gaps(heard.slice(75 * FRAME)), 0)
})

test('a track that jumps far ahead in time is heard at once', () => {
  const track = new Track()
  track.talk(50)
  const heard = track.talk(50, { from: 2 ** 31 })
  assert.ok(begin(heard.slice(10 * FRAME)) < 20)
})

test('media time before zero is played', () => {
  // The unwrapped clock is negative if the first frame was the first after a wrap and an earlier one follows.
  const heard = new Track().talk(50, { from: -20 * FRAME })
  assert.equal(gaps(heard), 0)
})

test('the buffers of all frames come back', () => {
  const track = new Track()
  track.talk(100)
  track.rest(100)
  const returned = track.player.port.sent.flatMap(({ used }) => used)
  assert.equal(returned.length, 100)
  assert.ok(returned.every((buffer) => buffer.byteLength === 4 * FRAME))
})

test('reports come about 40 times a second while audio plays, and end with it', () => {
  const track = new Track()
  const before = track.reports.length
  track.talk(50)
  const during = track.reports.length - before
  assert.ok(during >= 35 && during <= 45, `${during} reports`)
  track.rest(200)
  const after = track.reports.length
  track.rest(1000)
  assert.equal(track.reports.length, after)
})

test('no sample is louder than it was sent, whatever is skipped', () => {
  const track = new Track()
  let random = 1
  const late = () => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31
    return (random / 2 ** 31) ** 4 * 300
  }
  const heard = track.talk(1000, { late })
  // While one part fades out, another may fade in.
  assert.ok(heard.every((sample) => Math.abs(sample) <= 1))
})

test('a stopped player ends', () => {
  const track = new Track()
  track.player.port.onmessage({ data: { type: 'stop' } })
  assert.equal(track.player.process([[]], [[new Float32Array(128)]]), false)
})

test('the jitter is that of the slowest twentieth, and outliers do not count', () => {
  const network = new DelayEstimator()
  for (let index = 0; index < 100; index++) {
    network.noteArrival(clock.wall - (index % 10 === 0 ? 30 * MILLISECOND : 0) - (index === 50 ? 500 * MILLISECOND : 0))
    clock.wall += FRAME
  }
  network.measure()
  assert.equal(network.jitter, 30 * MILLISECOND)
})

test('a clock that jumps is forgotten within seconds', () => {
  const network = new DelayEstimator()
  const frames = (count, ts) => {
    for (let index = 0; index < count; index++) {
      network.noteArrival(ts + index * FRAME)
      clock.wall += FRAME
    }
    network.measure()
  }
  frames(100, 0)
  const before = network.fastest
  clock.wall += 60_000 * MILLISECOND
  frames(100, 100 * FRAME)
  assert.equal(network.fastest - before, 60_000 * MILLISECOND)
  assert.ok(network.jitter < MILLISECOND)
})

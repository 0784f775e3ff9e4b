// Compares recordings, inside the page: correlation, gaps, clicks.

const RATE = 48000
const DECIMATION = 6
const BLOCK = 240
// What was said begins within these seconds of the recording; the recordings repeat after 10 s.
const LONGEST_START = 9

/** Decodes a WAV or Ogg file to 48 kHz mono. */
export async function load(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  const buffer = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await response.arrayBuffer())
  return buffer.getChannelData(0)
}

export function concatenate(chunks) {
  const samples = new Float32Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    samples.set(chunk, offset)
    offset += chunk.length
  }
  return samples
}

/**
 * When samples of a tap are rendered, on the page's clock. They follow one another at 48 kHz, but are rendered in bursts and delivered by
 * messages that wait for the page: a sample's time is that of the least delayed of the last ten messages.
 */
export class SampleClock {
  #offsets = []

  /** Notes a message of the tap. */
  note(samples, frame) {
    this.#offsets.push(performance.now() - (frame + samples.length) / (RATE / 1000))
    if (this.#offsets.length > 10) this.#offsets.shift()
  }

  timeOf(frame) {
    return Math.min(...this.#offsets) + frame / (RATE / 1000)
  }

  frameAt(time) {
    return (time - Math.min(...this.#offsets)) * (RATE / 1000)
  }
}

function decimate(samples) {
  const result = new Float32Array(Math.floor(samples.length / DECIMATION))
  for (let index = 0; index < result.length; index++) {
    let sum = 0
    for (let tap = 0; tap < DECIMATION; tap++) sum += samples[index * DECIMATION + tap]
    result[index] = sum / DECIMATION
  }
  return result
}

/** The best lag of `part` within `whole`, in samples of these arrays, and the normalized correlation there. */
function align(part, whole, from, to) {
  let energy = 0
  for (const sample of part) energy += sample * sample
  let best = { lag: 0, coefficient: -1 }
  for (let lag = from; lag <= to; lag++) {
    let product = 0
    let other = 0
    for (let index = Math.max(0, -lag); index < part.length && index + lag < whole.length; index++) {
      product += part[index] * whole[index + lag]
      other += whole[index + lag] * whole[index + lag]
    }
    const coefficient = product / Math.sqrt(energy * other + 1e-12)
    if (coefficient > best.coefficient) best = { lag, coefficient }
  }
  return best
}

/** The best correlation at the full rate, near a lag that was found at the lower one. */
function refine(said, heard, from, at, length) {
  const start = Math.max(0, at - DECIMATION)
  return align(said.subarray(from, from + length), heard.subarray(start, at + length + DECIMATION), 0, 2 * DECIMATION).coefficient
}

function level(samples, from, length) {
  let sum = 0
  for (let index = from; index < from + length; index++) sum += (samples[index] ?? 0) ** 2
  return 10 * Math.log10(sum / length + 1e-12)
}

/**
 * Compares what was heard with what was said. Each window of 250 ms of speech is searched near the previous one, so that
 * skips and pauses do not matter. `correlations` are those of the windows; `gapMs` the longest silence in speech. The recording may lack
 * the first `missing` seconds.
 */
export function compare(said, heard, missing = 0) {
  const [a, b] = [decimate(said), decimate(heard)]
  const rate = RATE / DECIMATION
  // The loudest second finds the place.
  let loudest = 0
  for (let from = 0; from + rate <= a.length; from += rate / 4) if (level(a, from, rate) > level(a, loudest, rate)) loudest = from
  const [first, last] = [Math.max(0, loudest - missing * rate), Math.min(b.length - rate, loudest + LONGEST_START * rate)]
  const whole = align(a.subarray(loudest, loudest + rate), b, first, last)
  const start = whole.lag - loudest
  const window = rate / 4
  const correlations = []
  const lags = []
  let [lag, gap, longest, longestAt] = [start, 0, 0, 0]
  const search = 0.12 * rate
  for (let from = 0; from + window <= a.length; from += window) {
    if (level(a, from, window) < -45) continue
    const at = Math.round(from + lag)
    if (at < -search || at + window > b.length) continue
    const found = align(a.subarray(from, from + window), b.subarray(Math.max(0, at - search)), 0, Math.min(at, search) + search)
    const near = found.lag + Math.max(0, at - search)
    if (found.coefficient > 0.6) lag = near - from
    correlations.push(refine(said, heard, from * DECIMATION, near * DECIMATION, window * DECIMATION))
    lags.push((lag / rate) * 1000)
    // Silence of the output in blocks of 5 ms where the source speaks.
    for (let block = 0; block < window * DECIMATION; block += BLOCK) {
      const source = from * DECIMATION + block
      const isSilent = level(said, source, BLOCK) > -40 && level(heard, Math.round(source + lag * DECIMATION), BLOCK) < -70
      gap = isSilent ? gap + 5 : 0
      if (gap > longest) [longest, longestAt] = [gap, source / RATE]
    }
  }
  correlations.sort((x, y) => x - y)
  return {
    windows: correlations.length, whole: whole.coefficient, median: correlations[correlations.length >> 1] ?? 0,
    tenth: correlations[Math.floor(correlations.length / 10)] ?? 0, gapMs: longest, gapAt: longestAt,
    startMs: (start / rate) * 1000, drift: lags.length ? Math.max(...lags) - Math.min(...lags) : 0, seconds: heard.length / RATE,
  }
}

/** Times in milliseconds of the clicks: samples above the threshold after 100 ms without one. */
export function findClicks(samples, threshold = 0.2) {
  const times = []
  let last = -Infinity
  for (let index = 0; index < samples.length; index++) {
    if (Math.abs(samples[index]) < threshold) continue
    if (index - last > RATE / 10) times.push((index / RATE) * 1000)
    last = index
  }
  return times
}

// Where turns are in recordings. Pure functions.

const SIGNATURE = 'OpusTags'
// The tags are in the second page of a file, which follows the first directly.
const SEARCHED_BYTES = 4096

/** When an Ogg Opus file begins, in milliseconds since 1970, from its tag DATE (RFC 7845 section 5.2); null if it has none. */
export function readStart(bytes) {
  const searched = bytes.subarray(0, SEARCHED_BYTES)
  const at = String.fromCharCode(...searched).indexOf(SIGNATURE)
  if (at < 0) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = at + SIGNATURE.length
  const takeLength = () => {
    if (offset + 4 > view.byteLength) return null
    offset += 4
    return view.getUint32(offset - 4, true)
  }
  const vendorLength = takeLength() ?? 0
  offset += vendorLength
  const count = takeLength() ?? 0
  for (let index = 0; index < count; index++) {
    const length = takeLength()
    if (length === null || offset + length > view.byteLength) return null
    const comment = new TextDecoder().decode(bytes.subarray(offset, offset + length))
    offset += length
    if (!/^date=/i.test(comment)) continue
    const time = Date.parse(comment.slice(5))
    return Number.isNaN(time) ? null : time
  }
  return null
}

/**
 * Places recordings on the timeline of their session: `{origin, tracks: [{name, offset}]}`, offsets in seconds.
 *
 * `files`: `[{name, startedAt}]`. A file without a start begins with the first turn that refers to it, because nothing is recorded
 * before somebody talks.
 */
export function placeRecordings(files, turns) {
  const starts = files.map(({ name, startedAt }) => {
    const times = turns.filter(({ audio_ref }) => audio_ref === name).map(({ timestamp }) => Date.parse(timestamp))
    return startedAt ?? (times.length ? Math.min(...times) : null)
  })
  const known = starts.filter((start) => start !== null)
  const origin = known.length ? Math.min(...known) : null
  return { origin, tracks: files.map(({ name }, index) => ({ name, offset: starts[index] === null ? 0 : (starts[index] - origin) / 1000 })) }
}

/** Where each turn is on the timeline, in seconds, ascending; null without a timeline. */
export function positions(turns, origin) {
  let last = 0
  return turns.map(({ timestamp }) => {
    if (origin === null) return null
    last = Math.max(last, (Date.parse(timestamp) - origin) / 1000)
    return last
  })
}

/** The index of the turn that is spoken at a time: the last that has begun; -1 before the first. */
export function turnAt(positions, time) {
  let [low, high] = [0, positions.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (positions[middle] <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}

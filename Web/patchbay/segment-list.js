// Live transcripts (docs/protocol/transcripts.md): segments with revisions, and which words have been heard.

import { distance } from './wire.js'

// So that a page that is open for days does not grow without limit.
const MAX_SEGMENTS = 2000

/**
 * Splits a text after a number of Unicode scalars.
 *
 * @returns {[heard: string, rest: string]}
 */
export function splitText(text, chars) {
  let index = 0
  for (const scalar of text) {
    if (chars-- <= 0) break
    index += scalar.length
  }
  return [text.slice(0, index), text.slice(index)]
}

/** @typedef {import('../patchbay.js').Segment} Segment */

/** The segments of a call, in order of first appearance. */
export class SegmentList {
  /** @type {Segment[]} */
  segments = []
  #byId = new Map()
  #wordEnds = new WeakMap()

  /** Applies a `transcript.segment`; returns the segment, or null if a newer revision is known. */
  apply(data) {
    const known = this.#byId.get(data.id)
    if (known && known.rev >= (data.rev ?? 0)) return null
    const segment = readSegment(data)
    this.#byId.set(segment.id, segment)
    if (known) this.segments[this.segments.indexOf(known)] = segment
    else this.segments.push(segment)
    if (this.segments.length > MAX_SEGMENTS) this.#byId.delete(this.segments.shift().id)
    return segment
  }

  /**
   * What is heard at `ts` of an `ahead` track, or null.
   *
   * @param {import('../patchbay.js').Track} track
   * @param {number} ts
   * @returns {import('../patchbay.js').PlayoutPosition | null}
   */
  position(track, ts) {
    let heard = null
    for (let index = this.segments.length - 1; index >= 0; index--) {
      const segment = this.segments[index]
      const isOfTrack = segment.track ? segment.track === track.sid : segment.participant === track.participant
      if (!isOfTrack || segment.role !== 'assistant' || segment.startTs === undefined || distance(segment.startTs, ts, 32) > 0) continue
      // Of those that have begun, the one that began last.
      if (!heard || distance(segment.startTs, heard.startTs, 32) > 0) heard = segment
    }
    if (!heard) return null
    const { word, spokenChars } = this.#progress(heard, ts)
    return { segment: heard, participant: track.participant, track: track.sid, playedTs: ts, spokenChars, word }
  }

  #progress(segment, ts) {
    const limit = segment.spoken === 'interrupted' ? (segment.spokenChars ?? Infinity) : Infinity
    const { words, startTs, endTs, text } = segment
    if (words?.length) {
      let word = -1
      while (word + 1 < words.length && distance(words[word + 1].startTs, ts, 32) <= 0) word++
      const chars = word < 0 ? 0 : this.#ends(segment)[word]
      const isOver = word >= 0 && distance(words[word].endTs, ts, 32) <= 0
      return { word: isOver ? -1 : word, spokenChars: Math.min(limit, chars) }
    }
    if (endTs === undefined) return { word: -1, spokenChars: 0 }
    const share = Math.min(1, distance(ts, startTs, 32) / Math.max(1, distance(endTs, startTs, 32)))
    return { word: -1, spokenChars: Math.min(limit, Math.round(share * [...text].length)) }
  }

  /** For each word, the number of Unicode scalars of the text up to its end. */
  #ends(segment) {
    let ends = this.#wordEnds.get(segment)
    if (!ends) {
      ends = locateWords(segment.text, segment.words)
      this.#wordEnds.set(segment, ends)
    }
    return ends
  }
}

/** Finds words in a text, in order, ignoring case and surrounding punctuation. A word that is not found ends where its predecessor does. */
function locateWords(text, words) {
  const lower = text.toLowerCase()
  const isSameLength = lower.length === text.length
  const haystack = isSameLength ? lower : text
  let from = 0
  return words.map((word) => {
    const bare = word.text.replace(/^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$/gu, '')
    const needle = isSameLength ? bare.toLowerCase() : bare
    const at = needle ? haystack.indexOf(needle, from) : -1
    if (at >= 0) {
      from = at + needle.length
      // Punctuation belongs to the word before it.
      const following = /^[\p{P}\p{S}]+/u.exec(text.slice(from))
      if (following) from += following[0].length
    }
    return [...text.slice(0, from)].length
  })
}

/** @returns {Segment} */
function readSegment(data) {
  const segment = {
    id: data.id, rev: data.rev ?? 0, role: data.role, participant: data.participant ?? '', text: data.text, final: data.final ?? false,
    language: data.language ?? '',
  }
  const optional = {
    track: data.track, startTs: data.start_ts, endTs: data.end_ts, spoken: data.spoken, spokenChars: data.spoken_chars,
    words: data.words?.map(({ text, start_ts, end_ts, confidence }) => ({ text, startTs: start_ts, endTs: end_ts, confidence })),
  }
  for (const [key, value] of Object.entries(optional)) if (value !== undefined && value !== null) segment[key] = value
  return segment
}

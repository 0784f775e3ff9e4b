// The lines of the conversation as they are shown: segments of transcript, typed messages and notes. Pure functions.

import { splitText } from '../patchbay.js'

// What the page keeps: a conversation of an hour. More would make it slow; the view says how many lines were removed.
const MAX_LINES = 600
const MAX_CHARACTERS = 100_000
const MAX_REMOVED_IDS = 1000

export const emptyTranscript = { lines: [], removed: 0, removedIds: [] }

/** Adds a segment, or replaces the line of an earlier revision. */
export function applySegment(transcript, segment, name, now = Date.now()) {
  if (transcript.removedIds.includes(segment.id)) return transcript
  const index = transcript.lines.findLastIndex(({ id }) => id === segment.id)
  const known = transcript.lines[index]
  const line = {
    heard: 0, wordStart: 0, isPlaying: false, at: now, ...known,
    id: segment.id, kind: segment.role, name, text: segment.text, isFinal: segment.final, language: segment.language,
    spoken: segment.spoken, spokenChars: segment.spokenChars, hasTimes: segment.role === 'assistant' && segment.startTs !== undefined,
  }
  if (segment.spoken === 'completed' || segment.spoken === 'interrupted') line.isPlaying = false
  if (index < 0) return addLine(transcript, line)
  return trim({ ...transcript, lines: transcript.lines.with(index, line) })
}

/** Notes how far a segment has been heard. */
export function applyPlayout(transcript, { segment, spokenChars, word }) {
  const index = transcript.lines.findLastIndex(({ id }) => id === segment.id)
  const line = transcript.lines[index]
  if (!line || line.spoken === 'interrupted') return transcript
  const isPlaying = word >= 0
  if (line.heard === spokenChars && line.isPlaying === isPlaying) return transcript
  const wordStart = isPlaying ? startOfWord(line.text, spokenChars, segment.words[word].text) : spokenChars
  // The lines before it have been heard completely, or never will be.
  const lines = transcript.lines.map((other, at) => (at < index && other.isPlaying ? { ...other, isPlaying: false } : other))
  return { ...transcript, lines: lines.with(index, { ...line, heard: spokenChars, wordStart, isPlaying }) }
}

export function addLine(transcript, line) {
  return trim({ ...transcript, lines: [...transcript.lines, { id: `line-${Date.now()}-${Math.random()}`, at: Date.now(), ...line }] })
}

/** What of a line was heard, is being heard, is still to come, and was never heard. */
export function parts(line) {
  const { text } = line
  if (line.kind !== 'assistant') return { heard: text, now: '', next: '', never: '' }
  if (line.spoken === 'interrupted') {
    const [heard, never] = splitAtWord(text, line.spokenChars ?? line.heard)
    return { heard, now: '', next: '', never }
  }
  if (line.spoken === 'completed' || !line.hasTimes) return { heard: text, now: '', next: '', never: '' }
  const [begun, next] = splitText(text, line.heard)
  if (!line.isPlaying) return { heard: begun, now: '', next, never: '' }
  const [heard, now] = splitAtWord(begun, line.wordStart)
  return { heard, now, next, never: '' }
}

/** Where the last occurrence of a word before a position begins, in Unicode scalars. */
function startOfWord(text, end, word) {
  const [begun] = splitText(text, end)
  const at = begun.toLowerCase().lastIndexOf(word.trim().toLowerCase())
  // A word with other punctuation than in the text: from the last space.
  return [...begun.slice(0, at >= 0 ? at : begun.lastIndexOf(' ') + 1)].length
}

/** Spaces between the parts belong to the first, so that marks begin at words. */
function splitAtWord(text, chars) {
  const [before, after] = splitText(text, chars)
  const rest = after.trimStart()
  return [before + after.slice(0, after.length - rest.length), rest]
}

function trim(transcript) {
  let characters = 0
  let first = transcript.lines.length
  while (first > 0 && transcript.lines.length - first < MAX_LINES) {
    characters += transcript.lines[first - 1].text.length
    if (characters > MAX_CHARACTERS && first < transcript.lines.length) break
    first--
  }
  if (first === 0) return transcript
  const ids = transcript.lines.slice(0, first).map(({ id }) => id)
  return {
    lines: transcript.lines.slice(first),
    removed: transcript.removed + first,
    removedIds: [...transcript.removedIds, ...ids].slice(-MAX_REMOVED_IDS),
  }
}

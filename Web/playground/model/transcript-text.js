// The transcript of a call as plain text, for the clipboard. Pure functions.

import { parts } from '../../shared/transcript-lines.js'
import { texts } from './language.js'

/** Returns the summary, if any, and each line with its speaker. Speech that was not heard is omitted. */
export function transcriptText({ transcript, session }, table = texts) {
  const speakers = { user: table.you, typed: table.you, assistant: table.assistant, message: table.transcript.message }
  const lines = transcript.lines.filter(({ kind }) => kind !== 'note').flatMap((line) => {
    const { heard, now, next } = parts(line)
    const text = `${heard}${now}${next}`.trim()
    return text ? [`${line.name || speakers[line.kind] || line.kind}: ${text}`] : []
  })
  const { summary } = session
  const head = summary ? [summary.title, '', summary.summary_text, ...(summary.action_items ?? []).map((item) => `- ${item}`), ''] : []
  return [...head, ...lines].join('\n')
}

// How fast the assistant answers, from the metrics of its turns. Pure functions.

const MAX_TURNS = 100
// Of these many turns, the later half is compared with the earlier one.
const COMPARED = 10
const FEWEST_COMPARED = 4
// A smaller change is noise.
const STEADY = 0.1

export const stages = ['endOfTurn', 'recognition', 'firstToken', 'firstAudio', 'voiceToVoice']

/** Adds the metrics of a turn. A turn that is reported again replaces its earlier report. */
export function addTurn(turns, metrics) {
  const known = turns.filter(({ turn }) => turn !== metrics.turn)
  return [...known, metrics].slice(-MAX_TURNS)
}

/** The stages that at least one of the turns has: what never took place needs no column. */
export const knownStages = (turns) => stages.filter((stage) => turns.some((turn) => typeof turn[stage] === 'number'))

/** `{average, kind, percent}`: how long answers take, and whether that changes: steady, faster, slower, or few turns. Null without a total. */
export function trendOf(turns) {
  const totals = turns.map(({ voiceToVoice }) => voiceToVoice).filter((total) => typeof total === 'number')
  if (totals.length === 0) return null
  const average = mean(totals)
  const recent = totals.slice(-COMPARED)
  if (recent.length < FEWEST_COMPARED) return { average, kind: 'few', percent: 0 }
  const half = Math.floor(recent.length / 2)
  const [before, now] = [mean(recent.slice(0, half)), mean(recent.slice(-half))]
  const change = before === 0 ? 0 : (now - before) / before
  const kind = Math.abs(change) < STEADY ? 'steady' : change < 0 ? 'faster' : 'slower'
  return { average, kind, percent: Math.round(Math.abs(change) * 100) }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

// The assistant's response times, from the metrics of its turns. Pure functions.

const MAX_TURNS = 100
// The number of recent turns of which the later half is compared with the earlier one.
const COMPARED = 10
const FEWEST_COMPARED = 4
// The smallest relative change that counts.
const STEADY = 0.1

export const stages = ['endOfTurn', 'recognition', 'firstToken', 'firstAudio', 'voiceToVoice']

/** Adds the metrics of a turn, or replaces an earlier report of it. */
export function addTurn(turns, metrics) {
  const known = turns.filter(({ turn }) => turn !== metrics.turn)
  return [...known, metrics].slice(-MAX_TURNS)
}

/** The stages that occurred in at least one of the turns; other stages get no column. */
export const knownStages = (turns) => stages.filter((stage) => turns.some((turn) => typeof turn[stage] === 'number'))

/** Returns `{average, kind, percent}`: the average response time and its trend: steady, faster, slower, or few turns. Null without a total. */
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

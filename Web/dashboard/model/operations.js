// The gateway's operations as table rows: keys, texts and tones. Pure functions.

import { addressOf, isAddressable } from './addresses.js'
import { seconds } from './figures.js'

const qualities = { excellent: 'good', good: 'good', poor: 'warning', lost: 'danger' }

const milliseconds = (value) => (value === undefined || value === null ? '–' : seconds(value / 1000))
const percent = (value) => (value === undefined ? '–' : `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} %`)
const keyed = (items, keyOf) => new Map(items.map((item) => [JSON.stringify(keyOf(item)), item]))

/** Participants, worst first, as a map of rows by key. */
export function participantRows({ participants }) {
  return keyed(participants.map(({ room, identity, kind, quality, rtt_ms: rtt, loss_percent: loss, lost_ms: lost }) => ({
    room, identity, href: isAddressable(room) ? addressOf(room) : null, kind: kind === 'standard' ? '' : kind,
    tone: lost === undefined ? qualities[quality] ?? 'off' : 'danger',
    state: lost === undefined ? quality[0].toUpperCase() + quality.slice(1) : `Lost for ${milliseconds(Math.max(1000, lost))}`,
    rtt: milliseconds(rtt), loss: percent(loss),
  })), ({ room, identity }) => [room, identity])
}

/** Workers: lost ones first, then the busiest. `now`: milliseconds since 1970. */
export function workerRows({ workers, lost_workers: lost }, now) {
  const rows = workers.map(({ id, assistant, capacity, load, jobs, draining, responsive }) => ({
    id, assistant, load, jobs: `${jobs} of ${capacity}`,
    tone: !responsive ? 'danger' : draining ? 'off' : load >= 0.9 || jobs >= capacity ? 'warning' : 'good',
    state: !responsive ? 'Does not answer' : draining ? 'Draining' : load >= 0.9 || jobs >= capacity ? 'Busy' : 'Ready',
  }))
  const gone = lost.map(({ id, assistant, jobs, at }) => ({
    id, assistant, load: null, jobs: jobs ? `${jobs} then` : '–', tone: 'danger', state: `Lost ${ago(at, now)}`, isLost: true,
  }))
  return keyed([...gone.slice(0, LOST_MAX), ...rows], ({ id, isLost = false }) => [id, isLost])
}

// The number of lost workers to show; older ones are no longer news.
const LOST_MAX = 5

const stages = { end_of_turn: 'End of turn', recognition: 'Recognition', first_token: 'First token', first_audio: 'First audio', voice_to_voice: 'Voice to voice' }

/** Assistants by the 95th percentile of their response time, slowest first. */
export function assistantRows({ assistants }, now) {
  const rows = assistants.map(({ assistant, turns, interrupted, at, stages: taken }) => {
    const known = Object.fromEntries(taken.map((stage) => [stage.stage, stage]))
    const total = known.voice_to_voice
    return {
      assistant, turns: `${turns}${interrupted ? `, ${interrupted} interrupted` : ''}`, at: ago(at, now), slowness: total?.p95_ms ?? -1,
      median: milliseconds(total?.median_ms), p95: milliseconds(total?.p95_ms),
      stages: Object.entries(stages).filter(([name]) => name !== 'voice_to_voice' && known[name]).map(([name, title]) => `${title} ${milliseconds(known[name].median_ms)}`).join(' · '),
    }
  })
  return keyed(rows.sort((one, other) => other.slowness - one.slowness || one.assistant.localeCompare(other.assistant)), ({ assistant }) => assistant)
}

/** Errors and refusals, newest first. */
export function errorRows({ errors, refusals }) {
  const faults = errors.map(({ at, count, level, logger, message, details }) => ({
    key: ['error', logger, message], at, count, tone: level === 'warning' ? 'warning' : 'danger', kind: level, title: message, details: [logger, details].filter(Boolean).join(' · '),
  }))
  const refused = refusals.map(({ at, count, reason, status, route, address, room, identity }) => ({
    key: ['refusal', reason, route, address], at, count, tone: 'off', kind: 'refused', title: `${status} ${reason}`,
    details: [route, address, room && `room ${room}`, identity].filter(Boolean).join(' · '),
  }))
  return keyed([...faults, ...refused].sort((one, other) => other.at - one.at), ({ key }) => key)
}

/** Ended rooms and sessions, newest first. */
export function endedRows({ ended_rooms: rooms, ended_sessions: sessions }) {
  const all = [
    ...rooms.map(({ at, name, sid, reason, seconds: lasted }) => ({
      key: ['room', sid], at, count: 1, tone: 'off', kind: 'room', title: name, details: [`lasted ${seconds(lasted)}`, reason, sid].join(' · '),
    })),
    ...sessions.map(({ at, session, room, assistant, seconds: lasted }) => ({
      key: ['session', session], at, count: 1, tone: 'off', kind: 'session', title: room, details: [`lasted ${seconds(lasted)}`, assistant].filter(Boolean).join(' · '),
    })),
  ]
  return keyed(all.sort((one, other) => other.at - one.at), ({ key }) => key)
}

const ago = (at, now) => `${seconds(Math.max(1, Math.round((now - at) / 1000)))} ago`

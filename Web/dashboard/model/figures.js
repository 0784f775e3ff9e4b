// Which metrics the page keeps, and what it makes of them: rates, quantiles and totals. Pure functions.

import { quantile, total, totalsBy } from './prometheus.js'

const counters = [
  'patchbay_frames_received_total', 'patchbay_frames_sent_total', 'patchbay_joins_total', 'patchbay_joins_refused_total', 'patchbay_webhook_deliveries_total',
  'process_cpu_seconds_total',
]
const perShard = ['patchbay_frames_received_total', 'patchbay_frames_sent_total']
// Histograms: of all shards together, or by this label.
const histograms = [
  ['patchbay_join_seconds'], ['patchbay_http_seconds'], ['patchbay_loop_lag_seconds', 'shard'], ['patchbay_agent_turn_seconds', 'stage'], ['patchbay_webhook_seconds'],
]
const gauges = [
  'patchbay_connections', 'patchbay_participants', 'patchbay_rooms', 'patchbay_tracks', 'patchbay_webhooks_waiting', 'patchbay_webhooks_oldest_age_seconds',
  'patchbay_draining', 'patchbay_certificate_expiry_timestamp_seconds', 'patchbay_workers', 'patchbay_jobs_running', 'patchbay_jobs_pending',
  'process_resident_memory_bytes', 'process_open_fds', 'process_max_fds', 'process_start_time_seconds',
]

/** The values that are kept of a sample, by key: `name`, `name/label value`, `name/label value/bound`. */
export function select(metrics) {
  const values = new Map()
  const keep = (key, value) => value !== null && values.set(key, value)
  // A counter with labels has no samples before its first event.
  for (const name of counters) if (metrics.size > 0) keep(name, total(metrics, name) ?? 0)
  for (const name of gauges) keep(name, total(metrics, name))
  for (const name of perShard) for (const [shard, value] of totalsBy(metrics, name, 'shard')) keep(`${name}/${shard}`, value)
  for (const [reason, value] of totalsBy(metrics, 'patchbay_frames_dropped_total', 'reason')) keep(`patchbay_frames_dropped_total/${reason}`, value)
  for (const [outcome, value] of totalsBy(metrics, 'patchbay_webhook_deliveries_total', 'outcome')) keep(`patchbay_webhook_deliveries_total/${outcome}`, value)
  for (const [name, label] of histograms) {
    for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
      const key = `${name}/${label ? labels[label] : ''}/${labels.le}`
      values.set(key, (values.get(key) ?? 0) + value)
    }
  }
  return values
}

/** Returns the samples of the gateway's history, `[{time, values}]`, from the response of `GET /v1/operations/history`. */
export function readHistory({ times, series }) {
  return times.map((time, number) => {
    const metrics = new Map()
    for (const { name, labels, values } of series) {
      if (values[number] === null) continue
      const sample = { labels: Object.fromEntries(labels.map((label) => [label.name, label.value])), value: values[number] }
      metrics.set(name, [...(metrics.get(name) ?? []), sample])
    }
    return { time, values: select(metrics) }
  })
}

/** The label values of a metric in the history, sorted. */
export function labelsOf(history, name) {
  const prefix = `${name}/`
  const labels = new Set(history.keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length).split('/')[0]))
  return [...labels].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
}

/** A quantile of a histogram over time, `[{time, value}]`, in seconds. */
export function quantiles(history, name, label, share, from, to, points) {
  const prefix = `${name}/${label}/`
  const bounds = history.keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
    .map((text) => ({ text, bound: text === '+Inf' ? Infinity : Number(text) })).sort((one, other) => one.bound - other.bound)
  return history.growth(from, to, points, (grown) => {
    const buckets = bounds.map(({ text, bound }) => [bound, grown(prefix + text)])
    return buckets.some(([, count]) => count === null) ? null : quantile(buckets, share)
  })
}

/** The reasons for which frames were dropped since `from`, most first: `[{reason, count}]`. */
export function drops(history, from) {
  const name = 'patchbay_frames_dropped_total'
  return labelsOf(history, name).map((reason) => ({ reason, count: history.grown(`${name}/${reason}`, from) ?? 0 }))
    .sort((one, other) => other.count - one.count || one.reason.localeCompare(other.reason))
}

// MARK: Figures as text

/** @type {[number, string][]} */
const units = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]

export function amount(value) {
  if (value === null) return '–'
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? [1, '']
  const scaled = value / size
  return `${scaled >= 100 || Number.isInteger(scaled) ? Math.round(scaled) : scaled.toFixed(scaled < 10 && size === 1 ? 1 : scaled < 10 ? 2 : 1)}${unit && ` ${unit}`}`
}

export const perSecond = (value) => (value === null ? '–' : `${amount(value)}/s`)

export function seconds(value) {
  if (value === null) return '–'
  if (value === 0) return '0 ms'
  if (value < 1) return `${value < 0.01 ? (value * 1000).toFixed(1) : Math.round(value * 1000)} ms`
  if (value < 120) return `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} s`
  if (value < 7200) return `${Math.round(value / 60)} min`
  return value < 172_800 ? `${Math.round(value / 3600)} h` : `${Math.floor(value / 86_400)} days`
}

export function bytes(value) {
  if (value === null) return '–'
  return value >= 2 ** 30 ? `${(value / 2 ** 30).toFixed(1)} GiB` : `${(value / 2 ** 20).toFixed(0)} MiB`
}

// Prometheus's text format 0.0.4, as the gateway writes it. Pure functions.

/**
 * Parses `/metrics`: a map from names to `[{labels, value}]`. Lines that are no samples are skipped, so that a metric that is added
 * later, or a proxy's comment, does not blind the page.
 */
export function parseMetrics(text) {
  const metrics = new Map()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const sample = parseSample(line)
    if (!sample) continue
    const known = metrics.get(sample.name)
    if (known) known.push(sample)
    else metrics.set(sample.name, [sample])
  }
  return metrics
}

function parseSample(line) {
  const name = line.match(/^[A-Za-z_:][\w:]*/)?.[0]
  if (!name) return null
  const [labels, end] = line[name.length] === '{' ? parseLabels(line, name.length + 1) : [{}, name.length]
  if (!labels) return null
  const value = toNumber(line.slice(end).trim().split(/\s+/)[0])
  return value === null ? null : { name, labels, value }
}

function parseLabels(line, start) {
  const labels = {}
  let offset = start
  while (line[offset] !== '}') {
    const name = line.slice(offset).match(/^\s*([A-Za-z_]\w*)\s*=\s*"/)
    if (!name) return [null, offset]
    offset += name[0].length
    let value = ''
    while (line[offset] !== '"') {
      if (offset >= line.length) return [null, offset]
      if (line[offset] === '\\') {
        offset++
        value += { n: '\n' }[line[offset]] ?? line[offset] ?? ''
      } else {
        value += line[offset]
      }
      offset++
    }
    labels[name[1]] = value
    offset++
    if (line[offset] === ',') offset++
  }
  return [labels, offset + 1]
}

function toNumber(text) {
  if (text === '+Inf') return Infinity
  if (text === '-Inf') return -Infinity
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : null
}

/** The sum of a metric's samples that have these labels; null if there are none. */
export function total(metrics, name, labels = {}) {
  let sum = null
  for (const sample of metrics.get(name) ?? []) {
    if (Object.entries(labels).every(([key, value]) => sample.labels[key] === value)) sum = (sum ?? 0) + sample.value
  }
  return sum
}

/** The sums of a metric's samples by a label's values: a map. */
export function totalsBy(metrics, name, label) {
  const sums = new Map()
  for (const { labels, value } of metrics.get(name) ?? []) {
    if (labels[label] !== undefined) sums.set(labels[label], (sums.get(labels[label]) ?? 0) + value)
  }
  return sums
}

/**
 * Estimates a quantile of a histogram as Prometheus does: linear within the bucket. Null without observations.
 *
 * `buckets`: `[[upper bound, cumulative count]]`, ascending, the last bound is Infinity; in that bucket the answer is the bound before.
 */
export function quantile(buckets, share) {
  const count = buckets.at(-1)?.[1] ?? 0
  if (!(count > 0)) return null
  const rank = share * count
  let [lower, below] = [0, 0]
  for (const [bound, cumulative] of buckets) {
    if (cumulative >= rank && cumulative > below) return bound === Infinity ? lower : lower + (bound - lower) * ((rank - below) / (cumulative - below))
    ;[lower, below] = [bound, cumulative]
  }
  return lower
}

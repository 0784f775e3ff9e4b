// The nodes of a cluster as table rows. Pure functions.

// The load from which a node is shown as busy.
const BUSY = 0.9

const share = (value) => `${Math.round(value * 100)} %`
const count = (value) => (value === undefined ? '–' : String(value))

/** The nodes by name, as a map of rows by key. A node that is shown and does not run is among them. */
export function nodeRows({ items, shown, isMissing }) {
  const builds = new Set(items.map(({ build }) => build))
  const rows = items.map(({ name, build, draining, load, rooms, participants, coordinator }) => ({
    name, load, share: share(load), rooms: count(rooms), participants: count(participants), isShown: name === shown,
    // Versions differ in a rolling upgrade.
    detail: [coordinator && 'Coordinator', builds.size > 1 && `Version ${build}`].filter(Boolean).join(' · '),
    tone: draining || load >= BUSY ? 'warning' : 'good', state: draining ? 'Draining' : load >= BUSY ? 'Busy' : 'Ready',
  }))
  if (isMissing && !items.some(({ name }) => name === shown)) {
    rows.push({ name: shown, load: null, share: '–', rooms: '–', participants: '–', isShown: true, detail: '', tone: 'danger', state: 'Not running' })
  }
  return new Map(rows.sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true })).map((row) => [row.name, row]))
}

/** The node that is shown; undefined without a cluster, and if it does not run. */
export const shownNode = ({ items, shown }) => items?.find(({ name }) => name === shown)

/** The name of the coordinator, if another node is shown: workers are connected to it alone. Null otherwise. */
export const otherCoordinator = ({ items, shown }) => items?.find(({ name, coordinator }) => coordinator && name !== shown)?.name ?? null

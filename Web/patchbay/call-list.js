// The calls of a user as seen by one of its devices (docs/protocol/calls.md). No DOM, no network.

// The maximum number of calls to keep; the oldest ended one is dropped first. A user cannot have that many at once.
const MAX_CALLS = 64
// The number of connections of this device to remember, because calls may still name earlier ones.
const MAX_DEVICES = 16

const endings = { completed: 'completed', cancelled: 'cancelled', rejected: 'rejected', busy: 'busy', timeout: 'unanswered' }

/**
 * Derives changes of the call screen from the channel's messages and the replies to requests, in any order. Of two descriptions of a call, the
 * one with the higher `seq` applies.
 *
 * @typedef {import('../patchbay.js').Call} Call
 * @typedef {import('../patchbay.js').CallInfo} CallInfo
 * @typedef {{ type: 'appeared' | 'changed' | 'ended', call: Call, event: string | null }} Update
 */
export class CallList {
  /** @type {{ info: CallInfo, isHere: boolean, hasMoved: boolean, isShown: boolean }[]} */
  #entries = []
  // The ids of this device's connections, the current one last.
  #devices = []
  #user = null

  get user() {
    return this.#user
  }

  /** The calls that are ringing, active or held on this device, oldest first. */
  get calls() {
    return this.#entries.filter(({ isShown }) => isShown).map((entry) => this.#describe(entry))
  }

  /** The calls that the user has joined with another device. */
  get elsewhere() {
    return this.#entries.filter((entry) => !entry.isHere && this.#mine(entry)?.state === 'joined').map(({ info }) => info)
  }

  /**
   * Applies the first message of a connection.
   * @returns {Update[]}
   */
  begin({ user, device, calls }) {
    if (user !== this.#user) {
      this.#entries = []
      this.#devices = []
    }
    this.#user = user
    this.#devices = [...this.#devices, device].slice(-MAX_DEVICES)
    const known = new Set(calls.map(({ id }) => id))
    const gone = this.#entries.filter(({ info, isShown }) => isShown && !known.has(info.id))
    const updates = gone.map((entry) => ({ type: /** @type {const} */ ('ended'), call: { ...this.#describe(entry), state: /** @type {const} */ ('ended'), ending: /** @type {const} */ ('while_away') }, event: null }))
    this.#entries = this.#entries.filter(({ info }) => known.has(info.id))
    return [...updates, ...calls.flatMap((call) => this.apply(call))]
  }

  /**
   * Applies a call's description from an event or a reply. `isHere`: the reply admits this device to the call's room.
   * @returns {Update[]}
   */
  apply(data, { isHere = false, event = null } = {}) {
    if (this.#user === null) return []
    const info = readCall(data)
    let entry = this.#entries.find((one) => one.info.id === info.id)
    if (!entry) {
      entry = { info, isHere: false, hasMoved: false, isShown: false }
      this.#entries.push(entry)
    }
    const before = { ...entry }
    if (info.seq > entry.info.seq) entry.info = info
    if (isHere) entry.isHere = true
    this.#locate(entry, before)
    const update = this.#screenUpdate(entry, before, event)
    if (this.#entries.length > MAX_CALLS) this.#forgetOne()
    return update ? [update] : []
  }

  /**
   * Returns the current description of a call to which a reply admits this device.
   * @returns {Call}
   */
  admitted(data) {
    const entry = this.#entries.find(({ info }) => info.id === data.id)
    return this.#describe({ info: readCall(data), hasMoved: false, ...entry, isHere: true })
  }

  /** @returns {Call} */
  #describe(entry) {
    const { info, isHere, hasMoved } = entry
    const mine = this.#mine(entry)
    const others = info.members.filter(({ party, state }) => party !== this.#user && state === 'joined')
    const isHeldByOthers = others.length > 0 && others.every(({ held }) => held)
    const { state, ending } = stateOf({ info, mine, isHere, hasMoved, isHeldByOthers })
    return {
      ...info, direction: info.caller === this.#user ? 'outgoing' : 'incoming', state, ending,
      heldByUs: mine?.held ?? false, heldByOthers: isHeldByOthers, mutedByUs: mine?.muted ?? false,
      others: info.members.filter(({ party }) => party !== this.#user),
    }
  }

  #mine({ info }) {
    return info.members.find(({ party }) => party === this.#user)
  }

  /** Determines whether the call is on this device, from the device that it names. Joining by HTTP names none, so it counts as another device. */
  #locate(entry, before) {
    const mine = this.#mine(entry)
    if (mine?.state === 'invited') entry.isHere = false
    if (mine?.state === 'joined') {
      if (mine.device) entry.isHere = this.#devices.includes(mine.device)
      else if (entry.info.seq > before.info.seq && this.#mine(before)?.device) entry.isHere = false
    }
    entry.hasMoved = mine?.state === 'joined' && !entry.isHere && (before.isHere || before.hasMoved)
  }

  /** @returns {Update | null} */
  #screenUpdate(entry, before, event) {
    const call = this.#describe(entry)
    if (call.state === 'ended') {
      if (!entry.isShown) return null
      entry.isShown = false
      return { type: 'ended', call, event }
    }
    if (!entry.isShown) {
      entry.isShown = true
      return { type: 'appeared', call, event }
    }
    return entry.info === before.info && entry.isHere === before.isHere ? null : { type: 'changed', call, event }
  }

  #forgetOne() {
    const oldest = this.#entries.findIndex(({ isShown }) => !isShown)
    if (oldest >= 0) this.#entries.splice(oldest, 1)
  }
}

/** @returns {{ state: Call['state'], ending: Call['ending'] }} */
function stateOf({ info, mine, isHere, hasMoved, isHeldByOthers }) {
  const ended = (ending) => ({ state: /** @type {const} */ ('ended'), ending })
  if (!mine) return ended('failed')
  if (mine.state === 'invited') return { state: 'connecting', ending: null }
  if (mine.state === 'left') return ended(endings[mine.status] ?? 'failed')
  if (!isHere) return ended(hasMoved ? 'moved_elsewhere' : 'answered_elsewhere')
  if (info.status !== 'answered') return { state: 'connecting', ending: null }
  return { state: mine.held || isHeldByOthers ? 'held' : 'active', ending: null }
}

/**
 * Converts a call of the protocol to the library's type.
 * @returns {CallInfo}
 */
export function readCall({ id, uuid, room, seq, status, caller, caller_name, metadata, conversation = null, members, started_at, answered_at, ended_at }) {
  const time = (text) => (text ? new Date(text) : null)
  return {
    id, uuid, room, seq, status, caller, metadata, conversation, callerName: caller_name,
    members: members.map(({ device = null, ...member }) => ({ ...member, device })),
    startedAt: time(started_at), answeredAt: time(answered_at), endedAt: time(ended_at),
  }
}

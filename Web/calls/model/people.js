// The names of parties, as the user knows them. Pure functions.

const ASSISTANT = 'assistant:'

/**
 * The name of a party of a call. `contacts`: `[{address, name?}]`; `people`: known from calls, `{party: {address?, name?}}`.
 *
 * Contacts are matched only by an address that the gateway has resolved, because callers choose the name that they show.
 */
export function nameOf(party, { contacts, people }) {
  const known = people[party] ?? {}
  const contact = contacts.list.find(({ address }) => address === party || sameAddress(address, known.address))
  if (contact) return contact.name || contact.address
  if (party.startsWith(ASSISTANT)) return `Assistant ${party.slice(ASSISTANT.length)}`
  return known.address || known.name || `User ${party.slice(0, 8)}`
}

/** The names of the other parties: those in the call or ringing, or all of them once it is over. */
export function titleOf(call, state) {
  const present = call.others.filter(({ state: relation }) => relation !== 'left')
  return listed((present.length ? present : call.others).map(({ party }) => nameOf(party, state)))
}

/** The other parties of an entry in the history. */
export const othersOf = (entry, user) => entry.members.map(({ party }) => party).filter((party) => party !== user)

/** Joins names: `Ann`, `Ann and Bob`, `Ann, Bob and 2 others`. */
export function listed(names) {
  if (names.length < 2) return names[0] ?? 'Nobody'
  const rest = names.length - 2
  if (rest === 0) return names.join(' and ')
  return `${names[0]}, ${names[1]} and ${rest} other${rest === 1 ? '' : 's'}`
}

export const sameAddress = (one, other) => Boolean(one && other) && one.toLowerCase() === other.toLowerCase()

/** Whether the text looks like an address that the gateway can call: an e-mail address, `@handle`, an id, or `assistant:<id>`. */
export function isAddress(text) {
  return text.length > 0 && text.length <= 256 && !/\s/.test(text) && (/^@[\w.-]{3,32}$/.test(text) || /^[^@]+@[^@]+$/.test(text) || /^[0-9a-f-]{36}$/.test(text) || /^assistant:.+$/.test(text))
}

/** The kind of an entry in the user's history: `missed`, `incoming` or `outgoing`, with a label. */
export function kindOf({ caller, status, answered_at: answeredAt }, user) {
  if (caller === user) return { kind: 'outgoing', text: answeredAt ? 'Outgoing' : outgoing[status] ?? 'Not answered' }
  if (answeredAt) return { kind: 'incoming', text: 'Incoming' }
  return status === 'rejected' ? { kind: 'incoming', text: 'Declined' } : { kind: 'missed', text: 'Missed' }
}

const outgoing = { rejected: 'Declined', busy: 'Busy', timeout: 'No answer', cancelled: 'Cancelled', failed: 'Failed' }

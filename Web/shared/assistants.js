// Which participants of a room are assistants.

/** The beginning of the identities under which the gateway plays speech clips (docs/protocol/assistants.md). */
const CLIP_PREFIX = 'speech:'

/** The assistants in a room. A clip that is played has the kind of an agent, but talks to nobody. */
export const assistantsIn = ({ remoteParticipants }) =>
  [...remoteParticipants.values()].filter(({ kind, identity }) => kind === 'agent' && !identity.startsWith(CLIP_PREFIX))

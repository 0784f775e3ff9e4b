/// How the engine names a participant to the shell: which shard serves its socket, and its slot there.
///
/// Eight copied bytes, never reused for somebody else (the generation tells), so that a message that crosses threads
/// can name a participant that has meanwhile gone without harm.
package struct ParticipantHandle: Hashable, Sendable {
    package let shard: UInt16
    package let generation: UInt16
    package let slot: UInt32

    package init(shard: UInt16, slot: UInt32, generation: UInt16) {
        self.shard = shard
        self.slot = slot
        self.generation = generation
    }
}

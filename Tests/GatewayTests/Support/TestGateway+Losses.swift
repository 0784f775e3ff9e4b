import Identity
import Wire

/// Joining, losing a line, and whether the gateway knows.
extension TestGateway {
    /// Of kind agent, for which late is better than lost: that this process is late itself must not look like a loss.
    func join(_ identity: String, onShard shard: Int = 0) throws -> Caller {
        try Caller(self, room: "r", identity: identity, shard: shard) { $0.kind = .agent }
    }

    /// How many there are whose places are kept for them.
    func away() throws -> Double { try value(.participantsAway) }

    /// Returns when the gateway knows of it.
    func loseLine(of caller: Caller) throws {
        caller.socket.socket.reset()
        try Patience.until("the gateway knows") { try away() == 1 }
    }
}

import Identity
import Wire

/// Joining, and losing connections.
extension TestGateway {
    /// Joins as an agent, whose frames are not dropped when they are late: a slow test process must not look like a loss.
    func join(_ identity: String, onShard shard: Int = 0) throws -> Caller {
        try Caller(self, room: "r", identity: identity, shard: shard) { $0.kind = .agent }
    }

    /// Participants whose connection is lost and whose session can be resumed.
    func away() throws -> Double { try value(.participantsAway) }

    /// Resets a connection, and waits until the gateway has noticed.
    func loseLine(of caller: Caller) throws {
        caller.socket.socket.reset()
        try Patience.until("the gateway knows") { try away() == 1 }
    }
}

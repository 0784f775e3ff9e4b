package import Wire

/// How long a room without people lives: a while after it was made, a shorter while after the last one left.
///
/// Only those count who are not dependent (agents and recorders do not keep a room alive, as in LiveKit).
package struct EmptyRoomTimeout: Sendable {
    /// When the room ends unless somebody comes; nil while somebody is there.
    package private(set) var deadline: Instant?
    private let departureTimeout: Duration

    package init(createdAt: Instant, emptyTimeout: Duration, departureTimeout: Duration) {
        deadline = createdAt + emptyTimeout
        self.departureTimeout = departureTimeout
    }

    package mutating func cancel() {
        deadline = nil
    }

    package mutating func restart(at now: Instant) {
        deadline = now + departureTimeout
    }

    package func isOver(at now: Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }
}

internal import Synchronization
internal import Wire

/// What other threads may see of a room: written by the loop's thread, read by anybody.
final class RoomMirror: Sendable {
    struct State {
        var hello: Hello?
        var snapshot: RoomSnapshot?
        var statistics = RoomStatistics()
        var disconnection: Disconnection?
    }

    private let state = Mutex(State())

    var current: State { state.withLock { $0 } }

    /// Whether it is over.
    var isEnded: Bool { state.withLock { $0.disconnection != nil } }

    func update(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    func count(_ body: (inout RoomStatistics) -> Void) {
        state.withLock { body(&$0.statistics) }
    }
}

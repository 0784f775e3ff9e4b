internal import Synchronization
internal import Wire

/// What other threads may see of a channel: written by the loop's thread, read by anybody.
final class ChannelMirror: Sendable {
    struct State {
        var hello: CallsHello?
        var book = CallBook()
        var statistics = ChannelStatistics()
        var disconnection: Disconnection?
    }

    private let state = Mutex(State())

    var current: State { state.withLock { $0 } }

    func update<Outcome: Sendable>(_ body: (inout State) -> Outcome) -> Outcome {
        state.withLock { body(&$0) }
    }

    func count(_ body: (inout ChannelStatistics) -> Void) {
        state.withLock { body(&$0.statistics) }
    }
}

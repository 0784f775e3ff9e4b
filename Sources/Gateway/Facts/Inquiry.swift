internal import Synchronization

/// Whoever asked a shard from outside all shards. It is answered once; with nil if the question is dropped, for a shard that has stopped
/// takes none.
final class Inquiry: Sendable {
    private let whoAsks: Mutex<(@Sendable (Answer?) -> Void)?>

    init(_ whoAsks: @escaping @Sendable (Answer?) -> Void) {
        self.whoAsks = Mutex(whoAsks)
    }

    deinit { answer(nil) }

    func answer(_ answer: Answer?) {
        let whoAsks = whoAsks.withLock { whoAsks in
            defer { whoAsks = nil }
            return whoAsks
        }
        whoAsks?(answer)
    }
}

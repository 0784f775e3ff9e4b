internal import Logging
internal import Synchronization
internal import Wire

/// The rooms about which the store refuses this node's writes, because another node of the cluster has become their home. Counts, logs and
/// reports what is refused.
final class SupersededRooms: Sendable {
    /// Beyond it, all are forgotten: they are refused, logged and reported again.
    private static let roomsMax = 10_000

    /// The highest refused epoch of each room.
    private let epochs = Mutex<[String: RoomEpoch]>([:])
    private let counters: ServiceCounters
    private let report: (@Sendable (_ room: String, _ byNumber: UInt64) -> Void)?
    private let log: Logger

    /// - Parameter report: called once for each epoch that is refused; nil without a cluster.
    init(counters: ServiceCounters, log: Logger, report: (@Sendable (_ room: String, _ byNumber: UInt64) -> Void)?) {
        self.counters = counters
        self.log = log
        self.report = report
    }

    /// Whether the store has refused a write of this epoch, or of a later one.
    func contains(_ room: String, _ epoch: RoomEpoch) -> Bool {
        epochs.withLock { $0[room].map { epoch <= $0 } ?? false }
    }

    /// Notes that an event or write of a room is lost.
    ///
    /// - Parameters:
    ///   - epoch: nil if this node did not host the room.
    ///   - number: of the epoch for which the store has refused it; nil if the store was not asked.
    func note(_ room: String, _ epoch: RoomEpoch?, byNumber number: UInt64?) {
        counters.add(to: .roomWritesRefused)
        let epoch = epoch ?? RoomEpoch(number: 0, claim: 0)
        let isNew = epochs.withLock { epochs in
            if let known = epochs[room], epoch <= known { return false }
            if epochs.count >= Self.roomsMax { epochs = [:] }
            epochs[room] = epoch
            return true
        }
        guard isNew else { return }
        log.warning(
            "another node has become a room's home; what this node wrote about the room is refused", metadata: ["room": .string(room)])
        if let number { report?(room, number) }
    }
}

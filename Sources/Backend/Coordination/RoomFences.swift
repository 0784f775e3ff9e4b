internal import Engine
package import Wire

/// The highest epoch in which each room has reported: reports from former homes are ignored.
///
/// A home that is cut off continues its rooms while other nodes take them over. From its point of view, the participants leave and the rooms
/// end. It reports this to the coordinator once it can reach it again.
///
/// A new coordinator knows no epochs, and admits every report until the homes have announced their rooms, within about a second.
package struct RoomFences {
    /// Maximum number of rooms. Beyond it, the rooms that have been silent for longest are forgotten, and reports about them admitted again.
    package static let roomsMax = 200_000
    /// A room that has reported nothing for this time, or for twice as long, is forgotten: the broker forgets records
    /// (`ClusterLimits.recordAgeMax`), and then counts a room's epochs anew.
    private static let span = Duration.seconds(6 * 60 * 60)

    private var epochs: RecentTable<String, RoomEpoch>

    package init(keeping roomsMax: Int = Self.roomsMax) {
        epochs = RecentTable(keeping: roomsMax, for: Self.span)
    }

    /// Whether a report takes effect: not if the room has reported in a higher epoch.
    package mutating func admit(_ report: NodeMessage.RoomReport, at now: Instant) -> Bool {
        if let known = epochs[report.room], report.epoch < known { return false }
        _ = epochs.advance(to: now)
        // After the broker has lost its records, a new room of that name begins with epoch 1.
        epochs[report.room] = report.isLast ? nil : report.epoch
        return true
    }
}

extension NodeMessage {
    /// The origin of a report about a room.
    package struct RoomReport: Sendable, Hashable {
        package let room: String
        package let epoch: RoomEpoch
        /// The room is over.
        package let isLast: Bool
    }

    /// Nil for a message that is no report about a room, and for one without an epoch, which nodes of earlier versions send.
    package var report: RoomReport? {
        switch self {
        case .dispatch(.roomOpened(let room, _, let epoch?)), .dispatch(.roomIsOpen(let room, _, _, let epoch?)),
            .dispatch(.agent(_, let room, _, let epoch?)), .dispatch(.attended(let room, _, let epoch?)):
            RoomReport(room: room, epoch: epoch, isLast: false)
        case .dispatch(.roomEnded(let room, let epoch?)): RoomReport(room: room, epoch: epoch, isLast: true)
        // The report to dispatch follows.
        case .calls(.room(let call, _, _, let epoch?)): RoomReport(room: CallInfo.room(of: call), epoch: epoch, isLast: false)
        case .dispatch, .calls, .command, .takenForEnded: nil
        }
    }
}

internal import Engine
package import Wire

/// The highest epochs of rooms, as far as their reports have told: what a home of the past reports changes nothing.
///
/// A home that is cut off goes on with its rooms, while other nodes take them over. Its participants seem to leave, and its rooms end. It
/// reports this once it is reachable again, to the coordinator of that time, which asks for each report whether it is admitted.
///
/// A node that has just become the coordinator knows no epochs. Homes announce their rooms to it, with their epochs, within a second. Until then
/// every report is admitted.
package struct RoomFences {
    /// Beyond it, the rooms that have reported nothing for the longest time are forgotten. All reports about them are admitted again.
    package static let roomsMax = 200_000
    /// A room that has reported nothing for this time, or for twice as long, is forgotten: the broker forgets records
    /// (`ClusterLimits.recordAgeMax`), and then counts a room's epochs anew.
    private static let span = Duration.seconds(6 * 60 * 60)

    private var epochs: RecentTable<String, RoomEpoch>

    package init(keeping roomsMax: Int = Self.roomsMax) {
        epochs = RecentTable(keeping: roomsMax, for: Self.span)
    }

    /// Whether what a room's home reports may change something: unless the room has reported in a higher epoch.
    package mutating func admit(_ report: NodeMessage.RoomReport, at now: Instant) -> Bool {
        if let known = epochs[report.room], report.epoch < known { return false }
        _ = epochs.advance(to: now)
        // A broker that has lost its records counts a new room's epochs from 1.
        epochs[report.room] = report.isLast ? nil : report.epoch
        return true
    }
}

extension NodeMessage {
    /// Something that a room's home reports about it.
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

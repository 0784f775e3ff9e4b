internal import Engine
package import Wire

/// The highest epoch in which each room has reported: reports from former homes are ignored.
///
/// A home that is cut off continues its rooms while other nodes take them over. From its point of view, the participants leave and the rooms
/// end. It reports this to the coordinator once it can reach it again.
///
/// The fence of a room that has ended stays for a while: a former home may have been cut off for longer than the room lived on, and must
/// neither create jobs for it nor end its call. Only the report that a room has opened is admitted with a lower epoch then, because epochs
/// begin anew once the broker has lost its records.
///
/// A new coordinator knows no epochs, and admits every report until the homes have announced their rooms, within about a second.
package struct RoomFences {
    /// Maximum number of rooms. Beyond it, the rooms that have been silent for longest are forgotten, and reports about them admitted again.
    package static let roomsMax = 200_000
    /// A room that has reported nothing for this time, or for twice as long, is forgotten: the broker forgets records
    /// (`ClusterLimits.recordAgeMax`), and then counts a room's epochs anew.
    private static let span = Duration.seconds(6 * 60 * 60)
    /// Maximum number of rooms that have ended. Beyond it, those that ended first are forgotten.
    package static let endedRoomsMax = 100_000
    /// A room that has ended is forgotten after this time, or after twice as long. A former home steps down within seconds once it reaches the
    /// broker or another node, so only one that reaches neither for minutes is believed again.
    package static let endedSpan = Duration.seconds(10 * 60)

    private var epochs: RecentTable<String, RoomEpoch>
    /// Those in which rooms have ended.
    private var ended: RecentTable<String, RoomEpoch>

    package init(keeping roomsMax: Int = Self.roomsMax, ended endedRoomsMax: Int = Self.endedRoomsMax) {
        epochs = RecentTable(keeping: roomsMax, for: Self.span)
        ended = RecentTable(keeping: endedRoomsMax, for: Self.endedSpan)
    }

    /// Whether a report takes effect: not if the room has reported in a higher epoch.
    package mutating func admit(_ report: NodeMessage.RoomReport, at now: Instant) -> Bool {
        _ = (epochs.advance(to: now), ended.advance(to: now))
        if let known = epochs[report.room], report.epoch < known { return false }
        if report.moment != .opening, let known = ended[report.room], report.epoch < known { return false }
        epochs[report.room] = report.moment == .end ? nil : report.epoch
        ended[report.room] = report.moment == .end ? report.epoch : nil
        return true
    }
}

extension NodeMessage {
    /// The origin of a report about a room.
    package struct RoomReport: Sendable, Hashable {
        package enum Moment: Sendable, Hashable {
            /// The room has just opened.
            case opening
            case ongoing
            /// The room is over.
            case end
        }

        package let room: String
        package let epoch: RoomEpoch
        package let moment: Moment
    }

    /// Nil for a message that is no report about a room, and for one without an epoch, which nodes of earlier versions send.
    package var report: RoomReport? {
        switch self {
        case .dispatch(.roomOpened(let room, _, let epoch?)): RoomReport(room: room, epoch: epoch, moment: .opening)
        case .dispatch(.roomIsOpen(let room, _, _, let epoch?)), .dispatch(.agent(_, let room, _, let epoch?)),
            .dispatch(.attended(let room, _, let epoch?)):
            RoomReport(room: room, epoch: epoch, moment: .ongoing)
        case .dispatch(.roomEnded(let room, let epoch?)): RoomReport(room: room, epoch: epoch, moment: .end)
        // The report to dispatch follows.
        case .calls(.room(let call, _, _, let epoch?)): RoomReport(room: CallInfo.room(of: call), epoch: epoch, moment: .ongoing)
        case .dispatch, .calls, .command, .takenForEnded: nil
        }
    }
}

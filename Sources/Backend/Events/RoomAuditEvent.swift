package import Engine
internal import Wire

/// Something that has happened in a room, as services are told it.
package struct RoomAuditEvent: Sendable, Hashable {
    package enum Event: Sendable, Hashable {
        case room(Room.AuditEvent)
        /// A track's file is complete, as far as it goes.
        case recorded(RecordedFile)
    }

    package var event: Event
    /// The room as it was then.
    package var room: Room.Snapshot
    /// Milliseconds since 1970.
    package var at: Int64

    package init(_ event: Event, room: Room.Snapshot, at: Int64) {
        self.event = event
        self.room = room
        self.at = at
    }

    /// When something was that the fact tells as counted from itself, in milliseconds since 1970.
    package func time(of offset: Duration) -> Int64 { at + offset.inMilliseconds }
}

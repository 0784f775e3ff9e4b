package import Engine
internal import Wire

/// An event in a room, as reported to services.
package struct RoomAuditEvent: Sendable, Hashable {
    package enum Event: Sendable, Hashable {
        case room(Room.AuditEvent)
        /// A track's recording has ended; its file is closed.
        case recorded(RecordedFile)
    }

    package var event: Event
    /// The room at the time of the event.
    package var room: Room.Snapshot
    /// Milliseconds since 1970.
    package var at: Int64

    package init(_ event: Event, room: Room.Snapshot, at: Int64) {
        self.event = event
        self.room = room
        self.at = at
    }

    /// Converts a time relative to the event to milliseconds since 1970.
    package func time(of offset: Duration) -> Int64 { at + offset.inMilliseconds }
}

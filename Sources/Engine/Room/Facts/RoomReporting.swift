/// What of a room is told to those outside who keep records, and what is recorded. Chosen when the room is made.
package struct RoomReporting: Sendable, Hashable {
    /// Who comes and goes, what is published, held and recorded.
    package var reportsEvents: Bool
    /// What is said in it, as far as it is transcribed. Without this no text leaves the room.
    package var reportsText: Bool
    /// Its tracks are recorded from the first on.
    package var records: Bool

    package init(reportsEvents: Bool = true, reportsText: Bool = false, records: Bool = false) {
        self.reportsEvents = reportsEvents
        self.reportsText = reportsText
        self.records = records
    }

    package static let nothing = RoomReporting(reportsEvents: false)
    /// All but what is said.
    package static let events = RoomReporting()
    package static let eventsAndText = RoomReporting(reportsText: true)
}

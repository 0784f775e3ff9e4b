/// What of a room is told to those outside who keep records, and what is recorded. Chosen when the room is made.
package struct RoomKeeping: Sendable, Hashable {
    /// Who comes and goes, what is published, held and recorded.
    package var tellsFacts: Bool
    /// What is said in it, as far as it is transcribed. Without this no text leaves the room.
    package var tellsText: Bool
    /// Its tracks are recorded from the first on.
    package var records: Bool

    package init(tellsFacts: Bool = true, tellsText: Bool = false, records: Bool = false) {
        self.tellsFacts = tellsFacts
        self.tellsText = tellsText
        self.records = records
    }

    package static let nothing = RoomKeeping(tellsFacts: false)
    /// All but what is said.
    package static let facts = RoomKeeping()
    package static let factsAndText = RoomKeeping(tellsText: true)
}

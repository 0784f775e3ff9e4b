internal import Backend
internal import Engine
internal import Wire

/// The rooms that are homed on a shard, by index and by name.
struct RoomTable {
    private var rooms: [HostedRoom?] = []
    /// The deadline of each room; in an array of its own, because each tick scans it.
    private var deadlines: [Instant?] = []
    private var freeIndices: [Int] = []
    private var indexByName: [String: Int] = [:]

    /// Open rooms.
    var openCount: Int { indexByName.count }
    /// All indices, including those that are free.
    var indices: Range<Int> { rooms.indices }
    var open: [HostedRoom] { rooms.compactMap { $0 } }

    subscript(index: Int) -> HostedRoom? { rooms[index] }

    func index(named name: String) -> Int? { indexByName[name] }

    func isDue(_ index: Int, at now: Instant) -> Bool {
        guard let deadline = deadlines[index] else { return false }
        return deadline <= now
    }

    /// - Returns: the room's index.
    mutating func insert(_ hosted: HostedRoom) -> Int {
        let index = freeIndices.popLast() ?? rooms.count
        if index == rooms.count {
            rooms.append(nil)
            deadlines.append(nil)
        }
        rooms[index] = hosted
        deadlines[index] = hosted.status.deadline
        indexByName[hosted.name] = index
        return index
    }

    mutating func updateDeadline(of index: Int) {
        deadlines[index] = rooms[index]?.status.deadline
    }

    mutating func remove(_ index: Int) {
        guard let hosted = rooms[index] else { return }
        indexByName[hosted.name] = nil
        rooms[index] = nil
        deadlines[index] = nil
        freeIndices.append(index)
    }
}

/// A room that is homed on this shard, and the slots of its participants on this shard.
///
/// A class, because a room is large and a value in an array would be copied on access.
final class HostedRoom {
    @exclusivity(unchecked) private(set) var room: Room
    let name: String
    /// Whether its audit events go to the services, and not only into the log.
    let isReported: Bool
    var log = RoomLog()
    var slots: [Int] = []
    var term = HomeTerm()
    /// The number of participants last published to the directory; only for rooms with a participant limit.
    var publishedCount = 0
    /// As of the last input.
    private(set) var status: Room.Status

    init(room: Room, name: String, isReported: Bool) {
        self.room = room
        self.name = name
        self.isReported = isReported
        status = self.room.status()
    }

    func handle(_ input: Room.Input, at now: Instant, into effects: inout [Room.Effect]) {
        room.handle(input, at: now, into: &effects)
        status = room.status()
    }
}

internal import Cluster
internal import Wire

/// As much of a room as its promises need: what was acknowledged, the numbers of the events that each client was sent, and a playout position.
struct SimulatedRoom {
    var epoch: RoomEpoch
    var accepted: Set<UInt64> = []
    /// By client, of the last event.
    var numbers: [Int: UInt64] = [:]
    var position: UInt64 = 0
    /// Its last snapshot has been taken.
    var isFrozen = false
    /// It is over: nobody joins, and nothing is left to snapshot.
    var isClosed = false
    /// The broker refuses its snapshots, so that replies promise nothing.
    var isRefused = false
    /// Clients that are connected.
    var members: Set<Int> = []

    var takesRequests: Bool { !isFrozen && !isClosed }

    init(_ epoch: RoomEpoch, snapshot: [UInt8]) {
        self.epoch = epoch
        var words = stride(from: 0, to: snapshot.count, by: 8).map { start in
            snapshot[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }[...]
        guard let first = words.popFirst(), let count = words.popFirst() else { return }
        position = first
        accepted = Set(words.prefix(Int(count)))
        words = words.dropFirst(Int(count))
        while let client = words.popFirst(), let number = words.popFirst() { numbers[Int(client)] = number }
    }

    var snapshot: [UInt8] {
        guard !isClosed else { return [] }
        let numbers = numbers.sorted { $0.key < $1.key }.flatMap { [UInt64($0.key), $0.value] }
        let words = [position, UInt64(accepted.count)] + accepted.sorted() + numbers
        return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    /// Numbers never repeat for a client, even if the snapshot is older than the last event that it was sent.
    mutating func join(_ client: Int, lastNumber: UInt64) {
        members.insert(client)
        numbers[client] = max(numbers[client] ?? 0, lastNumber)
    }

    mutating func nextNumber(for client: Int) -> UInt64 {
        numbers[client, default: 0] += 1
        return numbers[client]!
    }
}

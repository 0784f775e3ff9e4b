package import Engine

/// The worst connections across rooms, at most `limit`, and the number of all connections.
package struct RoomConnections: Sendable {
    package struct Entry: Sendable {
        package var room: String
        package var report: ConnectionReport
    }

    package let limit: Int
    package private(set) var total = 0
    private var entries: [Entry] = []

    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ reports: [ConnectionReport], in room: String) {
        total += reports.count
        entries += reports.lazy.map { Entry(room: room, report: $0) }
        // Sorting occasionally costs less than inserting each entry in order.
        if entries.count > 4 * limit { entries = worst }
    }

    package mutating func merge(_ other: RoomConnections) {
        total += other.total
        entries += other.entries
        entries = worst
    }

    /// The worst connections, worst first.
    package var worst: [Entry] { Array(entries.sorted { $0.report.isWorse(than: $1.report) }.prefix(limit)) }
}

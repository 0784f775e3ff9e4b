internal import Foundation

/// A process that owns a store. A store in PostgreSQL may have several owners.
package enum Node {}

/// The table of the processes that own a store in a database. A node's leases end with it.
enum Nodes {
    static let table = "nodes"

    /// A row of the table.
    struct Entry {
        let id: NodeID
        /// Nodes are numbered in the order of their registration.
        let number: Int64
        let beat: Int64
        /// Nil if a later version of this program wrote it in another format.
        let process: ProcessIdentity?
    }

    static func register(_ node: NodeID, in db: some SQLConnection) throws {
        _ = try db.execute("INSERT INTO \(table) (id, process, beat) VALUES (?, ?, 0)", [node, ProcessIdentity.current.text])
    }

    /// - Returns: false if the node is not registered.
    static func beat(_ node: NodeID, in db: some SQLConnection) throws -> Bool {
        try db.execute("UPDATE \(table) SET beat = beat + 1 WHERE id = ?", [node]) == 1
    }

    static func list(in db: some SQLConnection) throws -> [Entry] {
        try db.all("SELECT id, number, beat, process FROM \(table) ORDER BY number", []).map { row in
            try Entry(id: row["id"], number: row["number"], beat: row["beat"], process: ProcessIdentity(text: row["process"]))
        }
    }

    /// Removes a node and releases its leases. Attempts stay counted.
    ///
    /// - Parameter beat: the last one that was seen of a node that is believed to have ended. If it has gone on meanwhile, nothing changes.
    static func remove(_ node: NodeID, lastBeat beat: Int64? = nil, in db: some SQLConnection) throws {
        guard try db.execute("DELETE FROM \(table) WHERE id = ?1 AND (?2 IS NULL OR beat = ?2)", [node, beat]) == 1 else { return }
        for table in leased { _ = try db.execute("UPDATE \(table) SET due_at = 0, node = NULL WHERE node = ?", [node]) }
    }

    /// Releases the leases of all nodes, once they are known to have ended.
    static func releaseAll(in db: some SQLConnection) throws {
        for table in leased { _ = try db.execute("UPDATE \(table) SET due_at = 0, node = NULL WHERE node IS NOT NULL", []) }
    }

    /// Tables with leases: `node` is the one that holds the row's lease, and null for a row that is due or will be retried.
    private static let leased = ["jobs", "webhook_lanes"]
}

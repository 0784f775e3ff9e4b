package import Identity

/// The recording of one track of a session: an encrypted file, which is not part of the store.
package struct SessionRecording: Sendable, Hashable {
    package var name: String
    /// The configured name of the node that holds the file; empty for one that was written without a cluster.
    package var node: String

    package init(name: String, node: String = "") {
        (self.name, self.node) = (name, node)
    }
}

extension Sessions {
    /// Registers a recording before it is written, so that it is deleted with its session. The name is random.
    ///
    /// - Returns: false if the session is not logged and must not be recorded.
    package func addRecording(
        _ recording: SessionRecording, to session: SessionID, of user: UserID
    ) async throws(StoreError) -> Bool {
        guard try await isLogged(session, of: user) else { return false }
        return try await database.write { db in
            let count = try db.execute(
                """
                INSERT INTO recordings (name, session_id, node) SELECT ?, id, ? FROM sessions WHERE id = ? AND user_id = ?
                ON CONFLICT DO NOTHING
                """, recording.name, recording.node, session, user)
            guard count == 1 else { throw StoreError.notFound }
            return true
        }
    }

    /// A session's recordings, ordered by name.
    package func recordings(of session: SessionID, of user: UserID) async throws(StoreError) -> [SessionRecording] {
        try await database.read { db in
            guard try db.has("SELECT 1 FROM sessions WHERE id = ? AND user_id = ?", session, user) else { throw StoreError.notFound }
            return try Self.recordings(of: session, in: db)
        }
    }

    static func recordings(of session: SessionID, in db: Transaction) throws -> [SessionRecording] {
        try db.all("SELECT name, node FROM recordings WHERE session_id = ? ORDER BY name", session).map { row in
            SessionRecording(name: try row["name"], node: try row["node"])
        }
    }

    /// All recordings' names.
    static func recordings(in db: Transaction) throws -> [String] {
        try db.values(String.self, "SELECT name FROM recordings ORDER BY name")
    }

    /// Names of recordings whose session is gone. Call `removeOrphanedFiles(_:)` after deleting the files.
    ///
    /// - Parameter node: only those that this node holds, or that were written without a cluster; nil: all.
    package func orphanedFiles(of node: String? = nil) async throws(StoreError) -> [String] {
        try await database.read { db in
            guard let node else { return try db.values(String.self, "SELECT name FROM unwanted_files ORDER BY name LIMIT 1000") }
            return try db.values(
                String.self, "SELECT name FROM unwanted_files WHERE node IN (?, '') ORDER BY name LIMIT 1000", node)
        }
    }

    /// Removes names from `orphanedFiles()`. Call after deleting the files.
    package func removeOrphanedFiles(_ names: [String]) async throws(StoreError) {
        guard !names.isEmpty else { return }
        try await database.delete { db in
            for name in names { try db.execute("DELETE FROM unwanted_files WHERE name = ?", name) }
        }
    }

    /// The key of a user's file. Deleting the user destroys it.
    package func fileKey(named name: String, of user: UserID) async throws(StoreError) -> SealingKey {
        try await database.read { db in try db.key(of: user).derived(for: "file \(name)") }
    }
}

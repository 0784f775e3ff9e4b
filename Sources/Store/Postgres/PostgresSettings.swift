internal import CPostgres
internal import Foundation

/// The server's address and the time limits of requests to it.
package struct PostgresSettings: Sendable {
    /// A connection string or URI as libpq reads it ("Connection Strings" in PostgreSQL's documentation), possibly with several hosts.
    /// Parameters that it does not set are taken from libpq's environment variables and password file.
    let target: String
    /// Takes precedence over the target's; nil: the target's, or none.
    var password: String?
    /// For one connection, until the server has accepted it. A host whose network does not answer takes a third of it.
    var connectTimeout = Duration.seconds(9)
    /// The server cancels a statement after this time.
    var statementTimeout = Duration.seconds(10)
    /// How long the server may take beyond that to report it. Then it is considered as hanging.
    var grace = Duration.seconds(3)
    /// How long a new owner of the store waits until an earlier one has ended. Must be longer than `StoreLimits.nodeSilence`.
    package var ownerTimeout = Duration.seconds(15)

    package init(target: String, password: String? = nil) {
        self.target = target
        self.password = password
    }

    /// Keywords and values for `PQconnectStartParams`. Those before the target only hold if it does not set them.
    var parameters: [(keyword: String, value: String)] {
        let networkTimeout = String(connectTimeout.milliseconds / 3)
        var parameters = [
            ("application_name", "patchbay"),
            // Standbys cannot be written.
            ("target_session_attrs", "read-write"),
            ("keepalives", "1"), ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", networkTimeout),
            ("dbname", target),
            ("client_encoding", "UTF8"),
        ]
        if let password { parameters.append(("password", password)) }
        return parameters
    }

    /// Whether the target is a connection string.
    package var isValid: Bool { (try? check()) != nil }

    /// The location of the database for messages, without user and password.
    package var name: String {
        let place = [try? option("host"), try? option("port")].compactMap(\.self).joined(separator: ":")
        return "postgresql://\(place)/\((try? option("dbname")) ?? "")"
    }

    /// - Throws: `other` if the target is no connection string. libpq's message is left out, since it quotes what may be the password.
    func check() throws(PostgresError) {
        _ = try option("password")
    }

    /// Replaces passwords in a message.
    func redact(_ message: String) -> String {
        let passwords = [password, try? option("password")].compactMap(\.self).filter { !$0.isEmpty }
        return passwords.reduce(message) { $0.replacingOccurrences(of: $1, with: "***") }
    }

    /// The value of a connection parameter in the target; nil if the target does not set it.
    private func option(_ name: String) throws(PostgresError) -> String? {
        guard let options = PQconninfoParse(target, nil) else {
            throw PostgresError(.other, "the connection string of the database cannot be read")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if String(cString: keyword) == name { return option.pointee.val.map { String(cString: $0) } }
            option += 1
        }
        return nil
    }
}

extension Duration {
    /// Rounded up to whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

/// Addresses, credentials and bucket of a NATS server or cluster.
package struct NATSSettings: Sendable {
    /// How a client proves who it is. Descriptions and dumps do not show secrets.
    package enum Credentials: Sendable {
        case none
        case user(String, password: String)
        case token(String)
        /// Path of a credentials file with a JWT and its key, as `nsc` writes it. Read again for each connection.
        case file(String)
    }

    /// Certificates are PEM files. The server's certificate must name the host that `servers` names.
    package struct TLS: Sendable {
        /// Path of the authorities' certificates; nil for those of the system.
        package var authorities: String?
        /// Paths of the client's certificate, with intermediate ones after it, and its key.
        package var certificate: (path: String, keyPath: String)?

        package init(authorities: String? = nil, certificate: (path: String, keyPath: String)? = nil) {
            (self.authorities, self.certificate) = (authorities, certificate)
        }
    }

    /// `host:port`, also with `nats://` or `tls://` before it. Connections are tried in random order.
    package var servers: [String]
    package var credentials = Credentials.none
    /// Nil only encrypts if the server demands it, and then trusts the system's authorities.
    package var tls: TLS?
    /// Shown in the server's list of connections.
    package var clientName = "patchbay"
    /// Letters, digits, `-` and `_`.
    package var bucket: String
    /// Of the bucket's records, 1 to 5; more than 1 only in a cluster.
    package var replicas = 1
    /// The subjects to subscribe to; `*` and `>` are wildcards.
    package var subjects: [String]
    /// For an answer, and for each step of a connection.
    package var requestTimeout = Duration.seconds(2)
    /// A connection is lost if two pings in a row are not answered within another interval.
    package var pingInterval = Duration.seconds(2)

    package init(servers: [String], bucket: String, subjects: [String]) {
        (self.servers, self.bucket, self.subjects) = (servers, bucket, subjects)
    }

    /// The stream that holds the bucket.
    var stream: String { "KV_" + bucket }

    func subject(ofKey key: String) -> String { "$KV.\(bucket).\(key)" }
}

// MARK: Validation

extension NATSSettings {
    /// - Throws: `NATSError.invalid`.
    package func check() throws(NATSError) {
        guard !servers.isEmpty else { throw .invalid("no server is named") }
        // User names and passwords in addresses would appear in logs.
        guard servers.allSatisfy({ Self.host(of: $0) != nil }) else {
            throw .invalid("a server's address is not host:port, optionally with nats:// or tls:// before it")
        }
        guard !bucket.isEmpty, bucket.utf8.allSatisfy({ $0.isKeyCharacter && $0 != UInt8(ascii: "=") }) else {
            throw .invalid("the bucket's name contains characters other than letters, digits, - and _")
        }
        guard (1...5).contains(replicas) else { throw .invalid("the bucket has \(replicas) replicas instead of 1 to 5") }
        guard requestTimeout >= .milliseconds(1) else { throw .invalid("the request timeout is shorter than 1 ms") }
        if let subject = subjects.first(where: { !Self.isSubject($0, mayHaveWildcards: true) }) {
            throw .invalid("\(subject) is not a subject")
        }
    }

    /// The host that a server's certificate must name; nil if the address is malformed.
    static func host(of server: String) -> String? {
        var address = Substring(server)
        if let scheme = ["nats://", "tls://"].first(where: { server.hasPrefix($0) }) { address = address.dropFirst(scheme.count) }
        guard let colon = address.lastIndex(of: ":"), UInt16(address[address.index(after: colon)...]) != nil else { return nil }
        var host = address[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.allSatisfy({ $0.isKeyCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else { return nil }
        } else {
            guard host.utf8.allSatisfy({ $0.isKeyCharacter || $0 == UInt8(ascii: ".") }) else { return nil }
        }
        return host.isEmpty ? nil : String(host)
    }

    /// Whether a key has 1 to 1,024 letters, digits and `-_=.`, without empty parts between dots.
    static func isKey(_ key: String) -> Bool {
        isSubject(key, mayHaveWildcards: false) && key.utf8.allSatisfy { $0.isKeyCharacter || $0 == UInt8(ascii: ".") }
    }

    /// Whether a subject can be sent: a space or a line break in it would start another part of the protocol's line.
    static func isSubject(_ subject: String, mayHaveWildcards: Bool) -> Bool {
        guard subject.utf8.count <= NATSLimits.subjectBytesMax, subject.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
        let parts = subject.split(separator: ".", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && (mayHaveWildcards || $0 != "*" && $0 != ">") }
    }
}

extension UInt8 {
    fileprivate var isKeyCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}

// MARK: Secrets

extension NATSSettings.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        switch self {
        case .none: "(no credentials)"
        case .user(let name, _): "(password of \(name))"
        case .token: "(token)"
        case .file(let path): "(credentials in \(path))"
        }
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: Limits and errors

/// Limits of the adapter. Beyond them, requests fail with `unavailable` at once, and other messages are dropped.
enum NATSLimits {
    static let pendingRequestsMax = 10_000
    /// Requests and messages that wait to be sent.
    static let outgoingMessagesMax = 10_000
    static let outgoingBytesMax = 16 << 20
    /// The server accepts lines of 4,096 bytes: two subjects, numbers and a verb.
    static let subjectBytesMax = 1_024
    /// Size of a record's fields other than the snapshot, including the message's headers, in bytes.
    static let recordFieldsBytesMax = 4_096
}

/// Why there is no connection or no bucket. Contains no secrets.
package enum NATSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The settings cannot work.
    case invalid(String)
    /// The server cannot be reached, or does not answer in time.
    case unreachable(String)
    /// The server does not accept the credentials.
    case notAuthorized
    /// The server is not who it should be, or does not encrypt.
    case tls(String)
    /// The user may not use a subject.
    case notPermitted(String)
    /// The server runs without JetStream, or the user's account has none.
    case noJetStream
    /// The server has refused to make the bucket.
    case bucket(String)

    package var description: String {
        switch self {
        case .invalid(let reason): "NATS settings: \(reason)"
        case .unreachable(let reason): "NATS is unreachable: \(reason)"
        case .notAuthorized: "NATS does not accept the credentials"
        case .tls(let reason): "NATS and TLS: \(reason)"
        case .notPermitted(let reason): "NATS does not permit it: \(reason)"
        case .noJetStream: "NATS runs without JetStream; start nats-server with -js, and enable JetStream for the account"
        case .bucket(let reason): "NATS does not make the bucket: \(reason)"
        }
    }
}

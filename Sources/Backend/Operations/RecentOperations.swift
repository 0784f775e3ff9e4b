internal import Engine
internal import Store
internal import Synchronization
internal import Wire

/// Recent errors, refusals, ended rooms and ended sessions, kept in memory for operators in an incident. Thread-safe.
///
/// Each list is bounded (`countMax`). Nothing is recorded per frame, and entries never contain speech or texts of users.
package final class RecentOperations: Sendable {
    /// The maximum number of entries in each list.
    package static let countMax = 50
    /// The maximum length of details in Unicode scalars; longer ones are truncated.
    static let detailsMax = 300

    private struct ErrorKey: Hashable {
        var logger: String
        var message: String
    }

    private struct RefusalKey: Hashable {
        var reason: String
        var route: String
        var address: String
    }

    private struct State {
        var errors = RecentList<ErrorKey, ReportedError>(limit: countMax)
        var refusals = RecentList<RefusalKey, OperatorLog.Refusal>(limit: countMax)
        var rooms = RecentList<RoomSID, EndedRoom>(limit: countMax)
        var sessions = RecentList<String, EndedSession>(limit: countMax)
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: Writing

    /// Records a log line of level `warning` or above. Lines with the same message share an entry.
    ///
    /// - Parameters:
    ///   - level: the level as written to the log.
    ///   - details: the line's metadata as one text.
    ///   - time: milliseconds since 1970.
    package func note(_ level: String, _ message: String, of logger: String, details: String, at time: Int64) {
        let error = ReportedError(level: level, logger: logger, message: message, details: details.prefix(ofScalars: Self.detailsMax))
        state.withLock { $0.errors.append(error, as: ErrorKey(logger: logger, message: message), at: time) }
    }

    func note(_ refusal: OperatorLog.Refusal, at time: Int64) {
        let key = RefusalKey(reason: refusal.reason, route: refusal.route, address: refusal.address)
        state.withLock { $0.refusals.append(refusal, as: key, at: time) }
    }

    func noteEnd(of room: RoomInfo, reason: DisconnectReason, at time: Int64) {
        let ended = EndedRoom(name: room.name, sid: room.sid, reason: reason.rawValue, seconds: max(0, time / 1_000 - room.createdAt))
        state.withLock { $0.rooms.append(ended, as: room.sid, at: time) }
    }

    func noteEnd(of session: Session, at time: Int64) {
        let seconds = max(0, (session.endedAt?.milliseconds ?? time) - session.startedAt.milliseconds) / 1_000
        let ended = EndedSession(session: session.id.text, room: session.roomName, assistant: session.assistantID, seconds: seconds)
        state.withLock { $0.sessions.append(ended, as: session.id.text, at: time) }
    }

    // MARK: Reading

    /// All lists, newest first.
    package var view: View {
        state.withLock { state in
            View(
                errors: state.errors.entries.reversed().map { Counted($0.value, $0.count, $0.at) },
                refusals: state.refusals.entries.reversed().map { Counted(ReportedRefusal($0.value), $0.count, $0.at) },
                rooms: state.rooms.entries.reversed().map { Counted($0.value, $0.count, $0.at) },
                sessions: state.sessions.entries.reversed().map { Counted($0.value, $0.count, $0.at) })
        }
    }

    package struct View: Sendable {
        var errors: [Counted<ReportedError>]
        var refusals: [Counted<ReportedRefusal>]
        var rooms: [Counted<EndedRoom>]
        var sessions: [Counted<EndedSession>]
    }
}

/// A value with the time of its last occurrence.
struct Counted<Value: Encodable & Sendable>: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey { case at, count }

    var at: Int64
    var count: Int
    var value: Value

    init(_ value: Value, _ count: Int, _ at: Int64) { (self.value, self.count, self.at) = (value, count, at) }

    /// Encodes the members of the value together with `at` and `count`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(at, forKey: .at)
        try container.encode(count, forKey: .count)
        try value.encode(to: encoder)
    }
}

/// A log line that reports an error.
struct ReportedError: Encodable, Sendable {
    /// `warning`, `error` or `critical`.
    var level: String
    var logger: String
    var message: String
    var details: String
}

/// A refused connection or request.
struct ReportedRefusal: Encodable, Sendable {
    var reason: String
    var status: Int
    var route: String
    var address: String
    /// The room that the unverified token claims.
    var room: String?
    var identity: String?

    init(_ refusal: OperatorLog.Refusal) {
        (reason, status, route, address) = (refusal.reason, refusal.status, refusal.route, refusal.address)
        (room, identity) = (refusal.room, refusal.identity)
    }
}

struct EndedRoom: Encodable, Sendable {
    var name: String
    var sid: RoomSID
    var reason: String
    var seconds: Int64
}

struct EndedSession: Encodable, Sendable {
    var session: String
    var room: String
    var assistant: String?
    var seconds: Int64
}

extension String {
    fileprivate func prefix(ofScalars count: Int) -> String {
        unicodeScalars.count <= count ? self : String(unicodeScalars.prefix(count)) + "…"
    }
}

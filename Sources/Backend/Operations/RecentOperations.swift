package import Engine
internal import Store
internal import Synchronization
package import Wire

/// What operators look for first in an incident, kept in memory: the latest errors, refusals, ended rooms and ended sessions. Thread-safe.
///
/// Each list is bounded (`countMax`). Nothing here is written for a frame, and nothing contains what was said or written.
package final class RecentOperations: Sendable {
    /// Entries of each list.
    package static let countMax = 50
    /// Longer details are cut, in Unicode scalars.
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

    /// Notes a line of the log of level `warning` or above. Lines of the same message are one entry.
    ///
    /// - Parameters:
    ///   - level: as in the log.
    ///   - details: the line's metadata, in one text.
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

/// A value and when it came last.
struct Counted<Value: Encodable & Sendable>: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey { case at, count }

    var at: Int64
    var count: Int
    var value: Value

    init(_ value: Value, _ count: Int, _ at: Int64) { (self.value, self.count, self.at) = (value, count, at) }

    /// The members of the value, and these two.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(at, forKey: .at)
        try container.encode(count, forKey: .count)
        try value.encode(to: encoder)
    }
}

/// A line of the log that reports an error.
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
    /// As the token claims, which is not verified.
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

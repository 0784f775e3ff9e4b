package import Engine
internal import HTTPServer
package import Logging
internal import Store
internal import Synchronization
package import Wire

/// The operator's log at level `info`: joins, departures, rooms, sessions, calls, refusals and failed webhooks, one line each.
///
/// Messages are fixed texts and everything variable is metadata; OPERATIONS.md lists both. No line contains a token, a secret or anything
/// that was said or written. Nothing here is called for a frame.
package final class OperatorLog: Sendable {
    /// Logs nothing.
    package static var silent: OperatorLog { OperatorLog(nil) }

    private let rooms: Logger?
    private let access: Logger?
    private let sessions: Logger?
    private let calls: Logger?
    private let webhooks: Logger?
    private let refusals = Mutex(RefusalBudget())
    /// The latest log entries, and the rooms and sessions that ended, regardless of the log level.
    package let recent: RecentOperations

    /// - Parameters:
    ///   - recent: stores the latest entries.
    ///   - make: returns the logger of a component; nil disables logging.
    package init(recent: RecentOperations = RecentOperations(), _ make: ((_ label: String) -> Logger)? = { Logger(label: $0) }) {
        self.recent = recent
        rooms = make?("patchbay.rooms")
        access = make?("patchbay.access")
        sessions = make?("patchbay.sessions")
        calls = make?("patchbay.calls")
        webhooks = make?("patchbay.webhooks")
    }

    // MARK: Rooms

    /// Logs joins, departures, and the beginning and end of rooms and recordings.
    package func record(_ event: Room.AuditEvent, in room: Room.Snapshot) {
        if case .finished(let reason) = event { recent.noteEnd(of: room.info, reason: reason, at: WallClock.milliseconds) }
        guard let rooms, rooms.logLevel <= .info else { return }
        var metadata: Logger.Metadata = ["room": .string(room.info.name), "room_sid": .string(room.info.sid.text)]
        let message: Logger.Message
        switch event {
        case .started: message = "room started"
        case .finished(let reason):
            message = "room ended"
            metadata["reason"] = .string(reason.rawValue)
            metadata["seconds"] = .stringConvertible(max(0, WallClock.seconds - room.info.createdAt))
        case .joined(let participant, _):
            message = "participant joined"
            metadata.merge(Self.fields(of: participant)) { $1 }
        case .left(let participant, _, let reason):
            message = "participant left"
            metadata.merge(Self.fields(of: participant)) { $1 }
            metadata["reason"] = .string(reason.rawValue)
            metadata["seconds"] = .stringConvertible(max(0, WallClock.seconds - participant.joinedAt))
        case .aborted(let participant, _, let reason):
            message = "participant not admitted"
            metadata.merge(Self.fields(of: participant)) { $1 }
            metadata["reason"] = .string(reason.rawValue)
        case .recordingStarted(let recording):
            message = "recording started"
            metadata["recording"] = .string(recording.text)
        case .recordingStopped(let recording, _):
            message = "recording stopped"
            metadata["recording"] = .string(recording.text)
        // Tracks, hold and what was said or written are not logged.
        default: return
        }
        rooms.info(message, metadata: metadata)
    }

    private static func fields(of participant: ParticipantInfo) -> Logger.Metadata {
        [
            "identity": .string(participant.identity.text), "participant": .string(participant.sid.text),
            "kind": .string(participant.kind.rawValue),
        ]
    }

    // MARK: Refusals

    /// A refused connection or HTTP request.
    package struct Refusal: Sendable {
        /// `X-Patchbay-Error`: never text of the client.
        package var reason: String
        package var status: Int
        package var address: String
        /// The route, such as `GET /v1/rooms/:room`; empty if none matched.
        package var route: String
        package var request: RequestContext
        /// The token's claims, which are not verified if `reason` concerns the token.
        package var room: String?
        package var identity: String?
        package var issuer: String?

        package init(
            reason: String, status: Int, address: String, route: String, request: RequestContext, room: String? = nil,
            identity: String? = nil,
            issuer: String? = nil
        ) {
            self.reason = reason
            self.status = status
            self.address = address
            self.route = route
            self.request = request
            self.room = room
            self.identity = identity
            self.issuer = issuer
        }
    }

    /// Logs a refusal, within `RefusalBudget`.
    ///
    /// - Parameter refusal: evaluated only within the budget.
    package func refused(from address: String, at now: Instant, _ refusal: () -> Refusal) {
        guard refusals.withLock({ $0.admits(address, at: now) }) else { return }
        let refusal = refusal()
        recent.note(refusal, at: WallClock.milliseconds)
        guard let access, access.logLevel <= .info else { return }
        var metadata: Logger.Metadata = [
            "reason": .string(refusal.reason), "status": .stringConvertible(refusal.status), "address": .string(refusal.address),
            "route": .string(refusal.route),
        ]
        metadata.merge(refusal.request.logFields) { $1 }
        for (key, value) in [("room", refusal.room), ("identity", refusal.identity), ("issuer", refusal.issuer)] {
            if let value { metadata[key] = .string(value) }
        }
        access.info("refused", metadata: metadata)
    }

    /// Logs how many refusals were not logged. Call once a second.
    package func noteSuppressedRefusals(at now: Instant) {
        guard let access, let count = refusals.withLock({ $0.takeSuppressed(at: now) }) else { return }
        access.warning("refusals were not logged one by one", metadata: ["count": .stringConvertible(count)])
    }

    // MARK: Sessions and calls

    func started(_ session: Session) {
        sessions?.info("session started", metadata: Self.fields(of: session))
    }

    func ended(_ session: Session) {
        var metadata = Self.fields(of: session)
        if let end = session.endedAt {
            metadata["seconds"] = .stringConvertible(max(0, end.milliseconds - session.startedAt.milliseconds) / 1_000)
        }
        sessions?.info("session ended", metadata: metadata)
        recent.noteEnd(of: session, at: WallClock.milliseconds)
    }

    private static func fields(of session: Session) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "session": .string(session.id.text), "user": .string(session.userID.text), "room": .string(session.roomName),
            "logged": .stringConvertible(session.loggingEnabledSnapshot),
        ]
        if let assistant = session.assistantID { metadata["assistant"] = .string(assistant) }
        return metadata
    }

    /// Logs a change of a call: its status, or that of a member.
    func changed(_ record: CallRecord) {
        guard let calls else { return }
        var metadata: Logger.Metadata = [
            "call": .string(record.call.id.text), "room": .string(record.call.room), "from": .string(record.call.caller.text),
            "status": .string(record.call.status.rawValue), "event": .string(record.name),
        ]
        if case .member(let party, _) = record.change { metadata["identity"] = .string(party.text) }
        calls.info("call changed", metadata: metadata)
    }

    // MARK: Webhooks

    /// Logs a failed attempt. URLs may contain secrets, so only the endpoint's host is logged.
    func attempted(_ attempt: WebhookAttempt) {
        guard let webhooks else { return }
        let webhook = attempt.webhook.webhook
        var metadata: Logger.Metadata = [
            "webhook": .string(WebhookEvent.idPrefix + webhook.id.text), "event": .string(webhook.event), "room": .string(webhook.room),
            "endpoint": .string(EndpointName.host(of: webhook.endpoint)), "attempts": .stringConvertible(attempt.webhook.attempts),
        ]
        if let request = webhook.requestID { metadata["request"] = .string(request) }
        if let trace = webhook.trace { metadata["trace"] = .string(trace.traceID) }
        switch attempt.outcome {
        case .delivered: webhooks.debug("webhook delivered", metadata: metadata)
        case .retried(let pause):
            metadata["reason"] = .string(attempt.reason)
            metadata["retry_seconds"] = .stringConvertible(pause.components.seconds)
            webhooks.warning("webhook failed and will be repeated", metadata: metadata)
        case .dead:
            metadata["reason"] = .string(attempt.reason)
            webhooks.error("webhook given up", metadata: metadata)
        }
    }
}

extension RequestContext {
    /// The fields of log lines about the request.
    package var logFields: Logger.Metadata {
        var fields: Logger.Metadata = ["request": .string(id)]
        if let trace { fields["trace"] = .string(trace.traceID) }
        return fields
    }
}

/// The part of a URL that may be logged.
package enum EndpointName {
    /// The host with its port, without user, path and query.
    package static func host(of url: String) -> String {
        let afterScheme = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = afterScheme.prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    }
}

/// Decides which refusals are logged, so that an attacker can neither fill a disk nor hide the refusals of others.
///
/// Policy: `perSecondMax` lines per second, at most `perAddressMax` of them for one address. Further refusals are counted, and the count is
/// logged a second later. A value; time is an argument.
package struct RefusalBudget: Sendable {
    /// Lines per second, of all addresses together.
    package static let perSecondMax = 20
    /// Lines per second of one address.
    package static let perAddressMax = 5

    private var all = TokenBucket(perSecond: perSecondMax, burst: perSecondMax)
    private var byAddress = RateLimiter<String>(perAddressMax, per: .seconds(1), keysMax: 1_024)
    private var suppressed: (count: Int, since: Instant)?

    package init() {}

    /// Whether this refusal is logged; otherwise it is counted.
    package mutating func admits(_ address: String, at now: Instant) -> Bool {
        if byAddress.take(for: address, at: now) == nil, all.take(at: now) { return true }
        suppressed = ((suppressed?.count ?? 0) + 1, suppressed?.since ?? now)
        return false
    }

    /// The number of refusals that were not logged, a second after the first of them; nil if there are none.
    package mutating func takeSuppressed(at now: Instant) -> Int? {
        guard let suppressed, now >= suppressed.since + .seconds(1) else { return nil }
        self.suppressed = nil
        return suppressed.count
    }
}

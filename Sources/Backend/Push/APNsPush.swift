package import Store
package import Wire

/// A push for APNs: a VoIP push for a call, or an alert for a summary. APNs accepts bodies of at most 4 KiB.
package struct APNsPush: Sendable, Hashable {
    /// Whether this is a VoIP push, for which the app must show a call.
    package let isCall: Bool
    /// The time until which APNs keeps the push for a phone that is off.
    package let expiresAt: WallTime
    /// The time until which sending is retried if APNs does not accept the push.
    let attemptsEndAt: WallTime
    let body: [UInt8]

    /// The time for which sending an alert is retried. It is short because pending alerts count against `summariesMax`.
    private static let alertAttemptsSpan = Duration.seconds(120)

    package init(_ call: CallInfo, until end: WallTime) {
        isCall = true
        expiresAt = end
        attemptsEndAt = end
        body = Self.encode(CallPayload(call))
    }

    /// Returns nil if the session has no summary.
    ///
    /// - Parameter session: with its title and the beginning of its summary.
    package init?(_ session: SessionListing, at now: WallTime, until end: WallTime) {
        guard let title = session.title, let snippet = session.summarySnippet else { return nil }
        isCall = false
        expiresAt = end
        attemptsEndAt = min(end, now + Self.alertAttemptsSpan)
        body = Self.encode(SummaryPayload(session.id, title: title, snippet: snippet))
    }

    // Encoding only throws for infinite numbers, which do not occur.
    private static func encode(_ payload: some Encodable) -> [UInt8] { (try? JSON.encode(payload, names: .snakeCase)) ?? [] }
}

/// The data an app needs to show an incoming call.
private struct CallPayload: Encodable {
    struct Call: Encodable {
        var id: CallID
        var uuid: String
        var startedAt: String?
        var caller: CallParty
        var callerName: String
        var metadata: String
    }

    private let aps: [String: String] = [:]
    private let call: Call

    init(_ call: CallInfo) {
        self.call = Call(
            id: call.id, uuid: call.id.uuid, startedAt: call.startedAt.map { WallTime(milliseconds: $0).description }, caller: call.caller,
            callerName: call.callerName, metadata: call.metadata)
    }
}

/// An alert that names a session.
private struct SummaryPayload: Encodable {
    /// Limits a text to a number of UTF-8 bytes, because a character may have any number of them.
    private static func cut(_ text: String, to bytesMax: Int) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var bytes = 0
        let end = text.unicodeScalars.firstIndex { scalar in
            bytes += UTF8.width(scalar)
            return bytes > bytesMax
        }
        return String(text.unicodeScalars[..<(end ?? text.endIndex)]) + "…"
    }

    private let aps: APS
    private let session: [String: String]

    private struct APS: Encodable {
        var alert: [String: String]
        /// Groups the alerts on the lock screen.
        let threadID = "summaries"

        enum CodingKeys: String, CodingKey {
            case alert
            case threadID = "thread-id"
        }
    }

    init(_ id: SessionID, title: String, snippet: String) {
        aps = APS(alert: ["title": Self.cut(title, to: 400), "body": Self.cut(snippet, to: 1_200)])
        session = ["id": id.text]
    }
}

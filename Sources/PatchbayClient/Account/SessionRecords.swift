public import Foundation

/// The types that describe sessions.
extension Sessions {
    /// The kind of device that takes part in a session.
    public enum Context: String, Sendable, Codable, CaseIterable {
        case phone, tablet, watch, desktop, web, carplay
    }

    /// A started session, with the credentials for its room.
    public struct Started: Sendable, Hashable, Decodable {
        public var sessionId: String
        public var livekitUrl: String
        public var livekitToken: String
        public var roomName: String
        /// Whether the session is logged and summarized; nil if the gateway does not report it.
        public var logged: Bool?

        public init(sessionId: String, livekitUrl: String, livekitToken: String, roomName: String, logged: Bool? = nil) {
            self.sessionId = sessionId
            self.livekitUrl = livekitUrl
            self.livekitToken = livekitToken
            self.roomName = roomName
            self.logged = logged
        }
    }

    public enum Speaker: String, Sendable, Codable, CaseIterable {
        case user, assistant
    }

    /// A turn to add to a session.
    public struct NewTurn: Sendable, Hashable, Encodable {
        public var speaker: Speaker
        /// The text, 1 byte to 64 KiB.
        public var text: String
        public var timestamp: Date
        /// The location of the turn's audio, such as the name of a recording; up to 256 characters.
        public var audioRef: String?

        public init(speaker: Speaker, text: String, timestamp: Date, audioRef: String? = nil) {
            self.speaker = speaker
            self.text = text
            self.timestamp = timestamp
            self.audioRef = audioRef
        }

        private enum CodingKeys: String, CodingKey { case speaker, text, timestamp, audioRef }

        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(speaker, forKey: .speaker)
            try fields.encode(text, forKey: .text)
            try fields.encode(RFC3339.text(timestamp), forKey: .timestamp)
            try fields.encodeIfPresent(audioRef, forKey: .audioRef)
        }
    }

    /// A page of a list of sessions.
    public struct Page: Sendable, Hashable {
        public var sessions: [Line]
        /// The cursor of the next page; nil on the last page.
        public var next: String?

        public init(sessions: [Line], next: String?) {
            self.sessions = sessions
            self.next = next
        }
    }

    /// A session in the list.
    public struct Line: Sendable, Hashable, Decodable, Identifiable {
        public var id: String
        /// The title; empty until there is a summary.
        public var title: String
        public var summarySnippet: String
        public var startedAt: Date
        /// The time of the end; nil while the session is running.
        public var endedAt: Date?

        private enum CodingKeys: String, CodingKey { case id, title, summarySnippet, startedAt, endedAt }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(String.self, forKey: .id)
            title = try fields.decode(String.self, forKey: .title)
            summarySnippet = try fields.decode(String.self, forKey: .summarySnippet)
            startedAt = try fields.decodeTime(forKey: .startedAt)
            endedAt = try fields.decodeTimeIfPresent(forKey: .endedAt)
        }
    }

    public struct Session: Sendable, Hashable, Decodable, Identifiable {
        public enum SummaryStatus: String, Sendable, Codable {
            /// The session is not logged and will never have a summary.
            case none
            case pending, ready, failed
        }

        public var id: String
        public var context: String
        /// The language as a BCP 47 tag.
        public var language: String?
        public var startedAt: Date
        public var endedAt: Date?
        /// Whether the session is logged.
        public var loggingEnabledSnapshot: Bool
        public var summaryStatus: SummaryStatus

        private enum CodingKeys: String, CodingKey {
            case id, context, language, startedAt, endedAt, loggingEnabledSnapshot, summaryStatus
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(String.self, forKey: .id)
            context = try fields.decode(String.self, forKey: .context)
            language = try fields.decodeIfPresent(String.self, forKey: .language)
            startedAt = try fields.decodeTime(forKey: .startedAt)
            endedAt = try fields.decodeTimeIfPresent(forKey: .endedAt)
            loggingEnabledSnapshot = try fields.decode(Bool.self, forKey: .loggingEnabledSnapshot)
            summaryStatus = try fields.decode(SummaryStatus.self, forKey: .summaryStatus)
        }
    }

    public struct Summary: Sendable, Hashable, Decodable, Identifiable {
        public var id: String
        public var title: String
        public var summaryText: String
        public var actionItems: [String]
        public var tags: [String]
        /// Whether a better summary is still being generated.
        public var provisional: Bool?
    }

    public struct Turn: Sendable, Hashable, Decodable, Identifiable {
        public var id: String
        public var timestamp: Date
        public var speaker: Speaker
        public var text: String
        public var audioRef: String?

        private enum CodingKeys: String, CodingKey { case id, timestamp, speaker, text, audioRef }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(String.self, forKey: .id)
            timestamp = try fields.decodeTime(forKey: .timestamp)
            speaker = try fields.decode(Speaker.self, forKey: .speaker)
            text = try fields.decode(String.self, forKey: .text)
            audioRef = try fields.decodeIfPresent(String.self, forKey: .audioRef)
        }
    }

    /// A session with its summary and turns.
    public struct Detail: Sendable, Hashable, Decodable {
        public var session: Session
        /// The summary; nil until it is generated.
        public var summary: Summary?
        /// The turns; empty if the session is not logged.
        public var turns: [Turn]
    }
}

extension KeyedDecodingContainer {
    /// Decodes an RFC 3339 time, with or without fractional seconds.
    func decodeTime(forKey key: Key) throws -> Date {
        guard let time = try decodeTimeIfPresent(forKey: key) else {
            throw DecodingError.valueNotFound(Date.self, .init(codingPath: codingPath + [key], debugDescription: "no time"))
        }
        return time
    }

    func decodeTimeIfPresent(forKey key: Key) throws -> Date? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let time = RFC3339.date(text) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\"\(text)\" is not an RFC 3339 time")
        }
        return time
    }
}

/// Timestamps of the HTTP API: UTC with milliseconds.
private enum RFC3339 {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let styleWithoutFraction = Date.ISO8601FormatStyle()

    static func date(_ text: String) -> Date? {
        (try? style.parse(text)) ?? (try? styleWithoutFraction.parse(text))
    }

    /// Returns the text of a time. The style truncates, and most milliseconds have no exact binary fraction, so half a millisecond is
    /// added.
    static func text(_ date: Date) -> String {
        style.format(date.addingTimeInterval(0.000_5))
    }
}

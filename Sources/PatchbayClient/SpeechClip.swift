public import Foundation

extension Speech {
    /// A spoken text, or the job that generates it.
    public struct Clip: Sendable, Hashable, Identifiable, Decodable {
        public enum Status: String, Sendable, Hashable, Decodable {
            case queued, generating, ready, failed, cancelled
        }

        public var id: UUID
        public var status: Status
        /// The progress in percent, 0 to 100.
        public var progress: Int
        public var text: String
        public var voice: String
        /// The voice's name for display.
        public var voiceName: String
        public var provider: String
        /// The time of the first request; nil for clips created by earlier gateway versions.
        public var createdAt: Date?
        /// The media type of the audio; nil until there is audio.
        public var mimeType: String?
        public var duration: Duration?
        /// The words with their times; nil if the provider reports none.
        public var words: [Word]?
        /// The reason of a failure.
        public var message: String?

        private enum CodingKeys: String, CodingKey {
            case id, status, progress, text, voice, voiceName, provider, createdAt, mimeType, durationMs, words, message
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            guard let id = UUID(uuidString: try fields.decode(String.self, forKey: .id)) else {
                throw DecodingError.dataCorruptedError(forKey: .id, in: fields, debugDescription: "no UUID")
            }
            self.id = id
            status = try fields.decode(Status.self, forKey: .status)
            progress = try fields.decode(Int.self, forKey: .progress)
            // The gateway reports no other fields of a cancelled clip.
            text = try fields.decodeIfPresent(String.self, forKey: .text) ?? ""
            voice = try fields.decodeIfPresent(String.self, forKey: .voice) ?? ""
            voiceName = try fields.decodeIfPresent(String.self, forKey: .voiceName) ?? voice
            provider = try fields.decodeIfPresent(String.self, forKey: .provider) ?? ""
            createdAt = try fields.decodeIfPresent(String.self, forKey: .createdAt).flatMap {
                try? Date($0, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            }
            mimeType = try fields.decodeIfPresent(String.self, forKey: .mimeType)
            duration = try fields.decodeIfPresent(Int.self, forKey: .durationMs).map { .milliseconds($0) }
            words = try fields.decodeIfPresent([Word].self, forKey: .words)
            message = try fields.decodeIfPresent(String.self, forKey: .message)
        }
    }

    /// A word with its times, relative to the start of the audio.
    public struct Word: Sendable, Hashable, Decodable {
        public var text: String
        public var startMs: Int
        public var endMs: Int
    }

    public struct Provider: Sendable, Hashable, Identifiable, Decodable {
        public var id: String
        public var voices: [Voice]
    }

    public struct Voice: Sendable, Hashable, Identifiable, Decodable {
        public var id: String
        /// The name for display.
        public var name: String
    }
}

/// The reason why a request for speech clips failed.
public enum SpeechError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no response.
    case unreachable(ConnectError)
    /// The token source threw an error.
    case noToken(String)
    /// The gateway refused the request: HTTP status, error code (`unknown_provider`, `too_many_clips`, …) and message.
    case refused(status: Int, code: String, message: String)
    /// The text could not be spoken.
    case failed(String)
    /// The response did not come from a gateway, or from one of another version.
    case badAnswer(status: Int)

    public var description: String {
        switch self {
        case .unreachable(let error): error.description
        case .noToken(let reason): "there is no user token: \(reason)"
        case .refused(let status, let code, let message): "\(message) (HTTP \(status), \(code))"
        case .failed(let message): message.isEmpty ? "the text could not be spoken" : message
        case .badAnswer(let status): "the response (HTTP \(status)) is not that of a gateway; check the URL"
        }
    }
}

public import Foundation
internal import NIOHTTP1
internal import Wire

/// Speech clips of a user: texts that a gateway speaks once and keeps (docs/protocol/assistants.md, "Speech clips").
///
///     let speech = try Speech(url: "https://voice.example.org") { try await account.accessToken() }
///     let clip = try await speech.generate("Your order is on its way.", voice: "nova") { percent in print(percent) }
///     try await play(speech.audio(of: clip.id))      // Ogg Opus
///
/// A user's equal requests share a clip, so a text is generated once. Playing it is the app's business. Thread-safe; each call uses a connection
/// of its own.
public struct Speech: Sendable {
    /// The longest text, in bytes of UTF-8.
    public static let textBytesMax = 4_096
    /// Clips in a list at most.
    public static let clipsMax = 200
    private static let pollInterval = Duration.milliseconds(500)
    /// Attempts in a row to ask for a job's progress, while the gateway cannot be reached.
    private static let pollFailuresMax = 5

    private let address: GatewayAddress
    private let trust: TLSTrust
    private let timeout: Duration
    private let userTokens: UserTokenSource

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 7880.
    ///   - timeout: how long each request may take.
    ///   - userTokens: returns a currently valid access token of the user. Called for each request.
    /// - Throws: `SpeechError.unreachable` for an invalid URL.
    public init(
        url: String, trust: TLSTrust = .system, timeout: Duration = .seconds(15), userTokens: @escaping UserTokenSource
    ) throws(SpeechError) {
        do throws(ConnectError) { address = try GatewayAddress(url) } catch { throw .unreachable(error) }
        self.trust = trust
        self.timeout = timeout
        self.userTokens = userTokens
    }

    /// Who speaks clips, and with which voices. The first one is used where a request names none.
    public func providers() async throws(SpeechError) -> [Provider] {
        try await request(.GET, "/providers", as: ProviderList.self).providers
    }

    /// The user's clip for a text, which may still be in the making; nil if there is none. Generates nothing.
    public func clip(for text: String, voice: String? = nil, provider: String? = nil) async throws(SpeechError) -> Clip? {
        try await request(.POST, "/lookup", Wish(text: text, voice: voice, provider: provider), as: [Clip].self).first
    }

    /// The state of a clip.
    public func clip(_ id: UUID) async throws(SpeechError) -> Clip {
        try await request(.GET, Self.path(id), as: Clip.self)
    }

    /// The user's clips, newest first.
    ///
    /// - Parameter limit: 1 to `clipsMax`.
    public func clips(limit: Int = 50) async throws(SpeechError) -> [Clip] {
        try await request(.GET, "?limit=\(limit)", as: [Clip].self)
    }

    /// The clip for a text, which is generated if there is none. Cancelling the task cancels the generation.
    ///
    /// - Parameters:
    ///   - voice: one of the provider's; its first one by default.
    ///   - provider: one of `providers()`; the first one by default.
    ///   - progress: called with 0 to 100 whenever it has grown.
    /// - Returns: a clip with audio.
    /// - Throws: `SpeechError`, or `CancellationError`.
    public func generate(
        _ text: String, voice: String? = nil, provider: String? = nil, progress: (_ percent: Int) -> Void = { _ in }
    ) async throws -> Clip {
        let wish = Wish(text: text, voice: voice, provider: provider)
        // Not cancelled: without its answer, nobody knows which job to cancel.
        var clip = try await Task { try await request(.POST, "", wish, as: Clip.self) }.value
        do {
            return try await finished(&clip, progress)
        } catch let error as CancellationError {
            let id = clip.id
            _ = await Task { try? await delete(id) }.value
            throw error
        }
    }

    private func finished(_ clip: inout Clip, _ progress: (Int) -> Void) async throws -> Clip {
        var (reported, failures) = (-1, 0)
        while true {
            if clip.progress > reported {
                reported = clip.progress
                progress(reported)
            }
            switch clip.status {
            case .ready: return clip
            case .failed: throw SpeechError.failed(clip.message ?? "")
            case .cancelled: throw SpeechError.failed("the clip was cancelled")
            case .queued, .generating: break
            }
            try await Task.sleep(for: Self.pollInterval)
            do throws(SpeechError) {
                clip = try await self.clip(clip.id)
                failures = 0
            } catch {
                try Task.checkCancellation()
                failures += 1
                guard case .unreachable = error, failures < Self.pollFailuresMax else { throw error }
            }
        }
    }

    /// A clip's audio file.
    ///
    /// - Throws: `SpeechError.refused` with the code `clip_not_ready` while it is generated.
    public func audio(of id: UUID) async throws(SpeechError) -> [UInt8] {
        let response = try await exchange(.GET, Self.path(id) + "/audio", body: [])
        guard response.status == 200 else { throw Self.refusal(response) }
        return response.body
    }

    /// Cancels the generation of a clip, or forgets it.
    public func delete(_ id: UUID) async throws(SpeechError) {
        let response = try await exchange(.DELETE, Self.path(id), body: [])
        guard response.status == 204 else { throw Self.refusal(response) }
    }

    // MARK: Requests

    private struct Wish: Encodable {
        var text: String
        var voice: String?
        var provider: String?
    }

    private struct ProviderList: Decodable {
        var providers: [Provider]
    }

    private struct Refusal: Decodable {
        var code: String
        var message: String
    }

    private static func path(_ id: UUID) -> String { "/" + id.uuidString.lowercased() }

    private func request<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ wish: Wish? = nil, as _: Answer.Type
    ) async throws(SpeechError) -> Answer {
        let body = wish.flatMap { try? JSON.encode($0, names: .snakeCase) } ?? []
        let response = try await exchange(method, path, body: body)
        guard (200..<300).contains(response.status) else { throw Self.refusal(response) }
        guard let answer = try? JSON.decode(Answer.self, from: response.body, names: .snakeCase) else {
            throw .badAnswer(status: response.status)
        }
        return answer
    }

    private func exchange(_ method: HTTPMethod, _ path: String, body: [UInt8]) async throws(SpeechError) -> HTTPExchangeResponse {
        let token: String
        do { token = try await userTokens() } catch { throw .noToken("\(error)") }
        var headers: HTTPHeaders = ["Authorization": "Bearer \(token)"]
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        do throws(ConnectError) {
            try ConnectError.check(token: token)
            return try await HTTPExchange.send(
                method, to: address, target: "/v1/speech" + path, headers: headers, body: body, trust: trust, timeout: timeout)
        } catch {
            throw .unreachable(error)
        }
    }

    private static func refusal(_ response: HTTPExchangeResponse) -> SpeechError {
        guard let refusal = try? JSON.decode(Refusal.self, from: response.body, names: .snakeCase) else {
            return .badAnswer(status: response.status)
        }
        return .refused(status: response.status, code: refusal.code, message: refusal.message)
    }
}

extension Speech {
    /// A text that is spoken, or the job that speaks it.
    public struct Clip: Sendable, Hashable, Identifiable, Decodable {
        public enum Status: String, Sendable, Hashable, Decodable {
            case queued, generating, ready, failed, cancelled
        }

        public var id: UUID
        public var status: Status
        /// 0 to 100.
        public var progress: Int
        public var text: String
        public var voice: String
        /// For display.
        public var voiceName: String
        public var provider: String
        /// Nil for clips of earlier versions of the gateway.
        public var createdAt: Date?
        /// Of the audio, as soon as there is some.
        public var mimeType: String?
        public var duration: Duration?
        /// Nil if the provider has no word times.
        public var words: [Word]?
        /// Why it has failed.
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
            // Of a cancelled clip, nothing else is known.
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

    /// A word with its times from the beginning of the audio.
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
        /// For display.
        public var name: String
    }
}

/// Why a request for speech clips failed.
public enum SpeechError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no response.
    case unreachable(ConnectError)
    /// The source of tokens threw an error.
    case noToken(String)
    /// The gateway refused it: HTTP status, error code (`unknown_provider`, `too_many_clips`, …), message.
    case refused(status: Int, code: String, message: String)
    /// The text could not be spoken.
    case failed(String)
    /// The response is not a gateway's, or one of another version.
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

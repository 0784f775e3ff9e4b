public import Foundation
internal import NIOHTTP1
internal import Wire

/// Speech clips of a user: texts that a gateway speaks once and stores (docs/protocol/assistants.md, "Speech clips").
///
///     let speech = try Speech(url: "https://voice.example.org") { try await account.accessToken() }
///     let clip = try await speech.generate("Your order is on its way.", voice: "nova") { percent in print(percent) }
///     try await play(speech.audio(of: clip.id))      // Ogg Opus
///
/// Equal requests of a user share a clip, so each text is generated only once. The app plays the audio itself. Thread-safe; each call
/// uses its own connection.
public struct Speech: Sendable {
    /// The maximum length of a text in UTF-8 bytes.
    public static let textBytesMax = 4_096
    /// The maximum number of clips in a list.
    public static let clipsMax = 200
    private static let pollInterval = Duration.milliseconds(500)
    /// The maximum number of consecutive failed attempts to get a job's progress.
    private static let pollFailuresMax = 5

    private let address: GatewayAddress
    private let trust: TLSTrust
    private let timeout: Duration
    private let userTokens: UserTokenSource

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 443.
    ///   - timeout: the maximum duration of each request.
    ///   - userTokens: returns a valid access token of the user. Called for each request.
    /// - Throws: `SpeechError.unreachable` for an invalid URL.
    public init(
        url: String, trust: TLSTrust = .system, timeout: Duration = .seconds(15), userTokens: @escaping UserTokenSource
    ) throws(SpeechError) {
        do throws(ConnectError) { address = try GatewayAddress(url) } catch { throw .unreachable(error) }
        self.trust = trust
        self.timeout = timeout
        self.userTokens = userTokens
    }

    /// Returns the speech providers with their voices. The first provider is the default.
    public func providers() async throws(SpeechError) -> [Provider] {
        try await request(.GET, "/providers", as: ProviderList.self).providers
    }

    /// Returns the user's clip for a text, which may still be in progress; nil if there is none. Generates nothing.
    public func clip(for text: String, voice: String? = nil, provider: String? = nil) async throws(SpeechError) -> Clip? {
        try await request(.POST, "/lookup", Wish(text: text, voice: voice, provider: provider), as: [Clip].self).first
    }

    /// Returns the state of a clip.
    public func clip(_ id: UUID) async throws(SpeechError) -> Clip {
        try await request(.GET, Self.path(id), as: Clip.self)
    }

    /// Returns the user's clips, newest first.
    ///
    /// - Parameter limit: 1 to `clipsMax`.
    public func clips(limit: Int = 50) async throws(SpeechError) -> [Clip] {
        try await request(.GET, "?limit=\(limit)", as: [Clip].self)
    }

    /// Returns the clip for a text, and generates it if necessary. Cancelling the task cancels the generation.
    ///
    /// - Parameters:
    ///   - voice: one of the provider's voices; the first one by default.
    ///   - provider: one of `providers()`; the first one by default.
    ///   - progress: called with the percentage, 0 to 100, whenever it increases.
    /// - Returns: a clip with audio.
    /// - Throws: `SpeechError`, or `CancellationError`.
    public func generate(
        _ text: String, voice: String? = nil, provider: String? = nil, progress: (_ percent: Int) -> Void = { _ in }
    ) async throws -> Clip {
        let wish = Wish(text: text, voice: voice, provider: provider)
        // This request is not cancelled: only its response names the job to cancel.
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

    /// Returns a clip's audio file.
    ///
    /// - Throws: `SpeechError.refused` with the code `clip_not_ready` while the clip is being generated.
    public func audio(of id: UUID) async throws(SpeechError) -> [UInt8] {
        let response = try await exchange(.GET, Self.path(id) + "/audio", body: [])
        guard response.status == 200 else { throw Self.refusal(response) }
        return response.body
    }

    /// Cancels the generation of a clip, or deletes it from the user's clips.
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

internal import Audio
internal import Foundation
internal import Logging
internal import OggOpus
internal import PatchbayClient
internal import Wire

/// Speech that a service makes once and keeps.
protocol SpeechClipSource: Sendable {
    /// The audio of a text in pieces.
    ///
    /// - Throws: any error if there is no clip in time. The caller then synthesizes the text itself.
    func clip(of text: String, voice: String) async throws -> [SynthesizedSpeech]
}

/// Puts the speech of a definition's greetings into the cache, before calls need it.
///
/// The parts of greetings without the user's name are prepared, and the others as they are spoken to users without a name. All of them as
/// `SpokenText`, which is what the pipeline asks for.
struct GreetingPreparation: Sendable {
    /// Sentences of one definition that are prepared; further ones are kept when they are first spoken.
    static let textsMax = 64

    let synthesizer: CachedSynthesizer
    /// Nil: everything is synthesized here.
    var clips: (any SpeechClipSource)?
    /// How long the local synthesis waits, because it would delay the greeting of the call that is beginning.
    var localAfter = Duration.seconds(2)
    let logger: Logger

    /// Returns when everything is prepared, or soon after the task is cancelled. Calls synthesize anything that could not be prepared.
    func prepare(_ definition: AssistantDefinition) async {
        let speech = ConversationSpeech(definition, SpeechPreferences(), EngineLanguages(of: definition.providers))
        let texts = Self.texts(of: definition).map { SpokenText($0, language: speech.announced).text }
        if let clips {
            for text in texts { guard await fetch(text, definition.voice, from: clips) else { break } }
        }
        let missing = texts.filter { !synthesizer.cache.contains(synthesizer.key(of: $0, voice: definition.voice)) }
        guard !missing.isEmpty, (try? await Task.sleep(for: localAfter)) != nil else { return }
        for text in missing where !Task.isCancelled { await synthesize(text, definition.voice) }
    }

    static func texts(of definition: AssistantDefinition) -> [String] {
        var texts: [String] = []
        for text in definition.greetings.flatMap({ AssistantGreeting.sentences(of: $0, userName: "") }) where !texts.contains(text) {
            texts.append(text)
        }
        return Array(texts.prefix(textsMax))
    }

    /// - Returns: false if the source has failed.
    private func fetch(_ text: String, _ voice: String, from clips: any SpeechClipSource) async -> Bool {
        let key = synthesizer.key(of: text, voice: voice)
        guard synthesizer.cache.claim(key) else { return true }
        defer { synthesizer.cache.release(key) }
        do {
            synthesizer.cache.keep(try await clips.clip(of: text, voice: voice), of: key)
            return true
        } catch {
            if !Task.isCancelled { logger.info("No speech clips; greetings are synthesized here", metadata: ["reason": "\(error)"]) }
            return false
        }
    }

    private func synthesize(_ text: String, _ voice: String) async {
        let key = synthesizer.key(of: text, voice: voice)
        guard synthesizer.cache.claim(key) else { return }
        defer { synthesizer.cache.release(key) }
        do {
            // `CachedSynthesizer` keeps the audio.
            for try await _ in synthesizer.synthesize(text, voice: voice) {}
        } catch {
            logger.info("A greeting could not be prepared", metadata: ["reason": "\(error)"])
        }
    }
}

/// The speech clips of a gateway (docs/protocol/assistants.md, "Speech clips").
struct GatewayClips: SpeechClipSource {
    /// How long one request may take.
    private static let requestMax = Duration.seconds(5)
    /// How long the gateway may take to make a clip. Afterwards it continues to, for the next caller.
    private static let clipMax = Duration.seconds(15)
    private static let pollInterval = Duration.milliseconds(250)
    /// The longest clip.
    private static let durationMax = Duration.seconds(120)
    /// The duration of the pieces. The first one is encoded and sent before the others.
    private static let pieceSpan = Duration.milliseconds(200)

    let url: String
    let trust: TLSTrust
    let tokens: UserTokenSource

    /// - Parameter tokens: returns a currently valid token of the assistant.
    init(url: String, trust: TLSTrust, tokens: @escaping UserTokenSource) {
        self.url = url
        self.trust = trust
        self.tokens = tokens
    }

    func clip(of text: String, voice: String) async throws -> [SynthesizedSpeech] {
        let gateway = try GatewayAdministrator(url: url, token: try await tokens(), trust: trust, timeout: Self.requestMax)
        let deadline = MediaClock.now + Self.clipMax
        var clip = try Self.clip(in: await gateway.post("/v1/speech", body: JSON.encode(Body(text: text, voice: voice), names: .snakeCase)))
        guard UUID(uuidString: clip.id) != nil else { throw ProviderError(.invalidResponse, "The clip's id is no UUID.") }
        while clip.status == "queued" || clip.status == "generating" {
            guard MediaClock.now < deadline else { throw ProviderError(.timeout, "The gateway has not made the clip in time.") }
            try await Task.sleep(for: Self.pollInterval)
            clip = try Self.clip(in: await gateway.get("/v1/speech/\(clip.id)"))
        }
        guard clip.status == "ready" else { throw ProviderError(.unavailable, "The gateway could not make the clip.") }
        let audio = try await gateway.get("/v1/speech/\(clip.id)/audio")
        guard audio.status == 200 else { throw Self.refusal(audio.status) }
        return try await Self.decode(audio.body, words: clip.words)
    }

    private static func clip(in response: (status: Int, body: [UInt8])) throws -> Clip {
        guard [200, 202].contains(response.status) else { throw refusal(response.status) }
        return try JSON.decode(Clip.self, from: response.body, names: .snakeCase)
    }

    private static func refusal(_ status: Int) -> ProviderError {
        ProviderError(.unavailable, "The gateway answered a request for a speech clip with HTTP \(status).")
    }

    /// Decodes an Ogg Opus file.
    ///
    /// - Returns: pieces, each with the words that begin in it.
    @concurrent
    static func decode(_ file: [UInt8], words: [Clip.Word]?) async throws -> [SynthesizedSpeech] {
        let sound = try OggOpusReader.decodePCM(file, channels: 1, limit: durationMax)
        guard !sound.samples.isEmpty else { throw ProviderError(.invalidResponse, "The clip is empty.") }
        let length = Int(pieceSpan.inMilliseconds) * sound.sampleRate / 1_000
        let starts = Array(stride(from: 0, to: sound.samples.count, by: length))
        return starts.enumerated().map { index, start in
            let begin = Int(pieceSpan.inMilliseconds) * index
            // A word that begins after the audio belongs to the last piece.
            let end = index + 1 == starts.count ? Int.max : begin + Int(pieceSpan.inMilliseconds)
            return SynthesizedSpeech(
                samples: Array(sound.samples[start..<min(start + length, sound.samples.count)]), sampleRate: sound.sampleRate,
                words: words?.filter { begin..<end ~= $0.startMs }.map {
                    TimedWord($0.text, start: .milliseconds($0.startMs), end: .milliseconds($0.endMs))
                })
        }
    }

    // MARK: Bodies

    private struct Body: Encodable {
        var text: String
        var voice: String
    }

    struct Clip: Decodable {
        struct Word: Decodable {
            var text: String
            var startMs: Int
            var endMs: Int
        }

        var id: String
        var status: String
        /// Nil if the synthesizer has no word times.
        var words: [Word]?
    }
}

internal import Logging
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
/// The parts of greetings without the user's name are prepared, and the others as they are spoken to users without a name.
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
        let texts = Self.texts(of: definition)
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

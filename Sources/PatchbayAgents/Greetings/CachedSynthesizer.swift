internal import Wire

/// Speaks an assistant's own texts: from the cache, otherwise with its synthesizer, whose audio is then kept for the next call.
struct CachedSynthesizer: SpeechSynthesizer {
    let synthesizer: any SpeechSynthesizer
    /// The settings of `synthesizer`; nil if it is the embedded one.
    let provider: ProviderSettings?
    let cache: SpeechCache

    func key(of text: String, voice: String) -> SpeechCache.Key {
        SpeechCache.Key(text: text, voice: voice, provider: provider)
    }

    func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        let key = key(of: text, voice: voice)
        let (stream, pieces) = AsyncThrowingStream<SynthesizedSpeech, any Error>.makeStream()
        if let speech = cache.speech(of: key) {
            for piece in speech { pieces.yield(piece) }
            pieces.finish()
            return stream
        }
        let speaking = Task {
            do {
                var speech: [SynthesizedSpeech] = []
                for try await piece in synthesizer.synthesize(text, voice: voice) {
                    pieces.yield(piece)
                    speech.append(piece)
                }
                // A cancelled stream ends early, without an error.
                try Task.checkCancellation()
                if !speech.contains(where: \.isFallback) { cache.keep(speech, of: key) }
                pieces.finish()
            } catch {
                pieces.finish(throwing: error)
            }
        }
        pieces.onTermination = { end in if case .cancelled = end { speaking.cancel() } }
        return stream
    }
}

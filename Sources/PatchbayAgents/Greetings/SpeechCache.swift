internal import Synchronization
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
        return .filled { pieces in
            if let speech = cache.speech(of: key) {
                for piece in speech { pieces.yield(piece) }
                return
            }
            var speech: [SynthesizedSpeech] = []
            for try await piece in synthesizer.synthesize(text, voice: voice) {
                pieces.yield(piece)
                speech.append(piece)
            }
            // A cancelled stream ends early, without an error.
            try Task.checkCancellation()
            if !speech.contains(where: \.isFallback) { cache.keep(speech, of: key) }
        }
    }
}

/// Speech of the assistants' own texts, such as greetings, for later calls. Shared by all calls of a process.
///
/// Beyond the limits, the least recently used texts are discarded.
final class SpeechCache: Sendable {
    struct Limits: Sendable, Hashable {
        var textsMax = 256
        /// Of all samples. 32 MiB are about 6 minutes of clips, or 12 minutes of embedded speech.
        var bytesMax = 32 << 20
    }

    /// Everything that affects the audio of a text.
    struct Key: Hashable, Sendable {
        var text: String
        var voice: String
        /// Nil is the embedded synthesizer.
        var provider: ProviderSettings?
    }

    private struct Entry {
        var speech: [SynthesizedSpeech]
        var bytes: Int
        /// The latest use, as a number that increases with each use.
        var used: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var bytes = 0
        var uses: UInt64 = 0
        var claims: Set<Key> = []

        mutating func nextUse() -> UInt64 {
            uses += 1
            return uses
        }

        mutating func remove(_ key: Key) {
            bytes -= entries.removeValue(forKey: key)?.bytes ?? 0
        }
    }

    private let limits: Limits
    private let state = Mutex(State())

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The pieces of a text's audio, in order; nil if they are not kept.
    func speech(of key: Key) -> [SynthesizedSpeech]? {
        state.withLock { state in
            let use = state.nextUse()
            state.entries[key]?.used = use
            return state.entries[key]?.speech
        }
    }

    /// Whether a text is kept. Does not count as a use.
    func contains(_ key: Key) -> Bool {
        state.withLock { $0.entries[key] != nil }
    }

    /// Keeps the complete audio of a text. Empty audio, and audio beyond the limit of all texts, is not kept. O(n) in the texts.
    func keep(_ speech: [SynthesizedSpeech], of key: Key) {
        let bytes = speech.reduce(0) { $0 + $1.samples.count * MemoryLayout<Int16>.size }
        guard bytes > 0, bytes <= limits.bytesMax else { return }
        state.withLock { state in
            state.remove(key)
            state.entries[key] = Entry(speech: speech, bytes: bytes, used: state.nextUse())
            state.bytes += bytes
            while state.entries.count > limits.textsMax || state.bytes > limits.bytesMax {
                guard let oldest = state.entries.min(by: { $0.value.used < $1.value.used })?.key else { break }
                state.remove(oldest)
            }
        }
    }

    // MARK: Preparation

    /// Reserves the preparation of a text, so that calls that begin at the same time do it once.
    ///
    /// - Returns: false if the text is kept, or another one prepares it. Otherwise call `release(_:)` afterwards.
    func claim(_ key: Key) -> Bool {
        state.withLock { $0.entries[key] == nil && $0.claims.insert(key).inserted }
    }

    func release(_ key: Key) {
        state.withLock { _ = $0.claims.remove(key) }
    }

    // MARK: Queries for tests

    var count: Int { state.withLock { $0.entries.count } }
    var byteCount: Int { state.withLock { $0.bytes } }
}

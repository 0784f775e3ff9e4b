import Backend
import Foundation
import Identity
import Store
import Synchronization

/// Speaks every text as a tone of 20 ms per character, and fails or waits on command.
final class ToneGenerator: SpeechGenerator {
    static let sampleRate = 22_050

    private struct State {
        var texts: [String] = []
        var errors: [any Error] = []
        var cancelled = 0
        /// Generations report this progress and wait until it is nil.
        var heldAt: Int?
        var plays: [Play] = []
    }

    let providers = [SpeechProvider.embedded, SpeechProvider(name: "cloud", voices: ["anna", "emil"])]
    private let state = Mutex(State())

    /// The texts so far, one for each attempt.
    var texts: [String] { state.withLock { $0.texts } }
    var cancelledCount: Int { state.withLock { $0.cancelled } }

    /// Makes generations stop at a progress, until `release()`.
    func hold(at percent: Int = 40) { state.withLock { $0.heldAt = percent } }
    func release() { state.withLock { $0.heldAt = nil } }

    /// Makes the next attempts fail, one after the other.
    func fail(with errors: any Error...) { state.withLock { $0.errors += errors } }

    func generate(
        _ text: String, voice: String, provider: String, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> GeneratedSpeech {
        let error = state.withLock { state in
            state.texts.append(text)
            return state.errors.isEmpty ? nil : state.errors.removeFirst()
        }
        if let error { throw error }
        do {
            while let percent = state.withLock({ $0.heldAt }) {
                progress(percent)
                try await Task.sleep(for: .milliseconds(5))
            }
        } catch {
            state.withLock { $0.cancelled += 1 }
            throw error
        }
        progress(100)
        return GeneratedSpeech(samples: Self.samples(of: text), sampleRate: Self.sampleRate, words: Self.words(of: text))
    }

    static func milliseconds(of text: String) -> Int { text.count * 20 }

    static func words(of text: String) -> [SpokenWord] {
        var start = 0
        var words: [SpokenWord] = []
        for word in text.components(separatedBy: " ") {
            words.append(SpokenWord(word, startMs: start, endMs: start + word.count * 20))
            start += (word.count + 1) * 20
        }
        return words
    }

    private static func samples(of text: String) -> [Int16] {
        (0..<milliseconds(of: text) * sampleRate / 1_000).map { index in
            let phase = 2 * Double.pi * 440 * Double(index) / Double(sampleRate)
            let level: Double = 10_000 * sin(phase)
            return Int16(level)
        }
    }
}

/// Joins nothing: remembers what should be played with which token.
extension ToneGenerator: ClipPlayer {
    struct Play {
        var file: [UInt8]
        var token: AccessToken
    }

    func play(_ file: [UInt8], token: String, started: @escaping @Sendable () -> Void) async throws {
        let claims = try TokenVerifier().verify(token, keys: TestToken.keys, now: TestToken.now)
        state.withLock { $0.plays.append(Play(file: file, token: claims)) }
        if claims.video?.room == "closed to clips" { throw DidNotHappen(what: "a join") }
        started()
        try await Task.sleep(for: .seconds(3_600))
    }

    var plays: [Play] { state.withLock { $0.plays } }
}

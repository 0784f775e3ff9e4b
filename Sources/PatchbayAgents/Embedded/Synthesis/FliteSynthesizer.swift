internal import Audio
internal import Dispatch
internal import Foundation
internal import Synchronization

/// English speech synthesis with flite on this machine, 16 kHz, with word times. Needs no models: the fallback if they are missing.
///
/// Sentences are spoken one after another on one queue for the whole process, 30 to 60 ms each.
public final class FliteSynthesizer: SpeechSynthesizer {
    struct Style: Hashable, Sendable {
        var voice = FliteLibrary.Voice.slt
        /// Factor of the fundamental and the formant frequencies. The speaking rate stays the same.
        var shift = 1.0
    }

    /// Texts that may wait in the process.
    static let textsMax = 64
    /// 30 ms before the first sound of a sentence and 200 ms after the last one are kept.
    private static let silenceKept = (before: 0.03, after: 0.2)
    /// Speech gets this gain, unless its peak would exceed 0.89 (-1 dBFS).
    private static let gain = 1.5
    private static let peakMax = 0.89 * 32_767

    private static let queue = DispatchQueue(label: "PatchbayAgents.flite", qos: .userInitiated)
    private static let texts = Atomic(0)
    /// Only used on `queue`.
    nonisolated(unsafe) private static var library: FliteLibrary?

    public init() {}

    /// - Parameter voice: `slt`, `rms`, `awb` or `kal`; anything else is spoken by `slt`.
    public func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        synthesize(text, style: Style(voice: FliteLibrary.Voice(rawValue: voice) ?? .slt))
    }

    func synthesize(_ text: String, style: Style) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        let (stream, pieces) = AsyncThrowingStream<SynthesizedSpeech, any Error>.makeStream()
        guard text.utf8.count <= HibariSynthesizer.textBytesMax else {
            pieces.finish(throwing: ProviderError(.rejected, "A text has at most \(HibariSynthesizer.textBytesMax) bytes."))
            return stream
        }
        guard Self.texts.add(1, ordering: .relaxed).newValue <= Self.textsMax else {
            Self.texts.subtract(1, ordering: .relaxed)
            pieces.finish(throwing: ProviderError(.overloaded, "Too many texts wait for the speech synthesizer."))
            return stream
        }
        let isCancelled = Flag()
        pieces.onTermination = { end in if case .cancelled = end { isCancelled.raise() } }
        Self.speak(Self.sentences(of: text)[...], style, offset: .zero, pieces, isCancelled)
        return stream
    }

    /// Speaks one sentence, then queues the next, so that texts take turns.
    private static func speak(
        _ sentences: ArraySlice<String>, _ style: Style, offset: Duration,
        _ pieces: AsyncThrowingStream<SynthesizedSpeech, any Error>.Continuation, _ isCancelled: Flag
    ) {
        queue.async {
            guard let sentence = sentences.first, !isCancelled.isRaised else {
                texts.subtract(1, ordering: .relaxed)
                return pieces.finish()
            }
            let library = unsafe Self.library ?? FliteLibrary()
            unsafe Self.library = library
            var offset = offset
            do {
                if let speech = library.speak(sentence, voice: style.voice, stretch: style.shift) {
                    let piece = try finished(speech, style, offset: offset)
                    offset += .seconds(Double(piece.samples.count) / Double(piece.sampleRate))
                    pieces.yield(piece)
                }
                speak(sentences.dropFirst(), style, offset: offset, pieces, isCancelled)
            } catch {
                texts.subtract(1, ordering: .relaxed)
                pieces.finish(throwing: ProviderError(.invalidResponse, "The speech synthesizer failed: \(error)"))
            }
        }
    }

    /// Shifts the frequencies, removes silence and raises the level.
    private static func finished(_ speech: FliteLibrary.Speech, _ style: Style, offset: Duration) throws -> SynthesizedSpeech {
        let rate = speech.sampleRate
        // Read at a higher rate, the stretched speech is as fast as before, and all its frequencies are higher.
        let shifted = PCMBuffer(samples: speech.samples, sampleRate: Int(Double(rate) * style.shift))
        let samples = try shifted.resampled(to: rate).samples
        let peak = samples.reduce(1) { max($0, abs(Int($1))) }
        let isLoud: (Int16) -> Bool = { abs(Int($0)) * 50 > peak }
        guard let first = samples.firstIndex(where: isLoud), let last = samples.lastIndex(where: isLoud) else {
            return SynthesizedSpeech(samples: samples, sampleRate: rate, words: [])
        }
        let start = max(first - Int(silenceKept.before * Double(rate)), 0)
        let end = min(last + Int(silenceKept.after * Double(rate)), samples.count)
        let factor = min(gain, peakMax / Double(peak))
        let length = Double(end - start) / Double(rate)
        var previous = 0.0
        let words = speech.words.map { word in
            // In order and within the audio.
            let times = [word.start, word.end].map { time in
                previous = min(max(time / style.shift - Double(start) / Double(rate), previous), length)
                return offset + .seconds(previous)
            }
            return TimedWord(word.text, start: times[0], end: times[1])
        }
        return SynthesizedSpeech(
            samples: samples[start..<end].map { Int16((Double($0) * factor).rounded()) }, sampleRate: rate, words: words)
    }

    /// Sentences in printable ASCII, which is all that flite understands.
    static func sentences(of text: String) -> [String] {
        let replacements: [Character: String] = ["’": "'", "‘": "'", "“": "\"", "”": "\"", "–": "-", "—": ", ", "…": "...", "€": " euros "]
        let plain = text.map { replacements[$0] ?? String($0) }.joined().folding(options: .diacriticInsensitive, locale: nil)
        let ascii = String(decoding: plain.unicodeScalars.map { 0x20..<0x7F ~= $0.value ? UInt8($0.value) : 0x20 }, as: UTF8.self)
        var sentences: [String] = []
        var sentence = ""
        for word in ascii.split(separator: " ") {
            // flite reads tokens into buffers of its own; nobody speaks words of this length.
            sentence += (sentence.isEmpty ? "" : " ") + word.prefix(100)
            if let last = word.last, ".?!".contains(last), sentence.count > 3 {
                sentences.append(sentence)
                sentence = ""
            }
        }
        if !sentence.isEmpty { sentences.append(sentence) }
        return sentences.filter { $0.contains { $0.isLetter || $0.isNumber } }
    }
}

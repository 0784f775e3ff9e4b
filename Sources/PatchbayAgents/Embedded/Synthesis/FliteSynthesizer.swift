internal import Audio
internal import CFlite
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

/// English speech synthesis with flite (CMU) through its C library: 16 kHz (8 kHz for `kal`), about 1 % of a core, no models to install.
///
/// Not thread-safe, because flite is not: `FliteSynthesizer` owns it.
@safe struct FliteLibrary {
    /// A recorded speaker.
    enum Voice: String, CaseIterable, Sendable {
        /// Female, American.
        case slt
        /// Male, American.
        case rms
        /// Male, Scottish.
        case awb
        /// Male, American; a simple diphone voice.
        case kal
    }

    struct Speech {
        var samples: [Int16]
        /// Hz.
        var sampleRate: Int
        /// Times in seconds.
        var words: [(text: String, start: Double, end: Double)]
    }

    private let voices: [Voice: UnsafeMutablePointer<cst_voice>]

    init() {
        flite_init()
        var voices: [Voice: UnsafeMutablePointer<cst_voice>] = unsafe [:]
        for voice in Voice.allCases {
            unsafe voices[voice] =
                switch voice {
                case .slt: unsafe register_cmu_us_slt(nil)
                case .rms: unsafe register_cmu_us_rms(nil)
                case .awb: unsafe register_cmu_us_awb(nil)
                case .kal: unsafe register_cmu_us_kal(nil)
                }
        }
        unsafe self.voices = unsafe voices
    }

    /// - Parameters:
    ///   - sentence: printable ASCII. flite ends the process on some malformed input, so this is not optional.
    ///   - stretch: factor of all durations.
    /// - Returns: nil if flite produced no audio.
    func speak(_ sentence: String, voice: Voice, stretch: Double) -> Speech? {
        precondition(sentence.utf8.allSatisfy { 0x20..<0x7F ~= $0 }, "flite speaks printable ASCII only")
        guard let voice = unsafe voices[voice] else { return nil }
        unsafe flite_feat_set_float(voice.pointee.features, "duration_stretch", Float(stretch))
        guard let utterance = unsafe flite_synth_text(sentence, voice) else { return nil }
        defer { unsafe delete_utterance(utterance) }
        guard let wave = unsafe utt_wave(utterance), unsafe wave.pointee.num_samples > 0, let samples = unsafe wave.pointee.samples else {
            return nil
        }
        return Speech(
            samples: unsafe Array(UnsafeBufferPointer(start: samples, count: Int(wave.pointee.num_samples))),
            sampleRate: Int(unsafe wave.pointee.sample_rate), words: unsafe Self.words(of: utterance))
    }

    /// Each token of the text with the time from its first word's first segment to its last word's last segment.
    private static func words(of utterance: UnsafeMutablePointer<cst_utterance>) -> [(String, Double, Double)] {
        var words: [(String, Double, Double)] = []
        var token = unsafe relation_head(utt_relation(utterance, "Token"))
        while let current = unsafe token {
            unsafe token = item_next(current)
            var times: [(start: Double, end: Double)] = []
            var word = unsafe item_daughter(current)
            while let spoken = unsafe word {
                unsafe word = item_next(spoken)
                guard unsafe item_daughter(item_as(spoken, "SylStructure")) != nil else { continue }
                // The end of the segment before the word's first one; 0 if there is none.
                let start = unsafe flite_ffeature_float(spoken, "R:SylStructure.daughter1.daughter1.R:Segment.p.end")
                let end = unsafe flite_ffeature_float(spoken, "R:SylStructure.daughtern.daughtern.end")
                times.append((Double(start), Double(end)))
            }
            guard let first = times.first, let last = times.last, let name = unsafe item_feat_string(current, "name") else { continue }
            words.append((unsafe String(cString: name), first.start, last.end))
        }
        return words
    }
}

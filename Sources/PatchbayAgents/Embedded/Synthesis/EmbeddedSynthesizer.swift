public import Logging
internal import Synchronization

/// Speech synthesis on this machine: Hibari, or flite while Hibari is unavailable.
///
/// A text is spoken by flite if Hibari's models are not installed, or if Hibari fails or stays silent before the text's first audio; the first time
/// is logged. Once a text has begun, a failure of its engine ends it with the error.
public final class EmbeddedSynthesizer: SpeechSynthesizer {
    /// How long a text waits for its first audio, which usually takes less than 0.1 s.
    private static let firstAudioMax = Duration.seconds(4)
    /// How much longer it waits while the helper process starts, which usually takes 1 s.
    private static let startMax = Duration.seconds(6)

    private let hibari: HibariSynthesizer?
    private let flite = FliteSynthesizer()
    private let firstAudioMax: Duration
    private let logger: Logger
    private let fallbacks = Atomic(0)

    /// Starts Hibari's helper process. Does not fail: without the models, flite speaks.
    public convenience init(models: ModelsFolder = .standard, logger: Logger = Logger(label: "patchbay.agents")) {
        do {
            self.init(try HibariSynthesizer(models: models, logger: logger), logger: logger)
        } catch {
            logger.warning("the natural voices are unavailable; a simple voice speaks", metadata: ["reason": "\(error)"])
            self.init(nil, logger: logger)
        }
    }

    init(_ hibari: HibariSynthesizer?, firstAudioMax: Duration = EmbeddedSynthesizer.firstAudioMax, logger: Logger) {
        self.hibari = hibari
        self.firstAudioMax = firstAudioMax
        self.logger = logger
    }

    /// Texts that flite spoke in place of Hibari.
    public var fallbackCount: Int { fallbacks.load(ordering: .relaxed) }

    /// - Parameter voice: a product voice, or one of flite's: `slt`, `rms`, `awb`, `kal`. Anything else is spoken by `alloy`.
    public func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        if FliteLibrary.Voice(rawValue: voice) != nil { return flite.synthesize(text, voice: voice) }
        let voice = EmbeddedVoice(rawValue: voice) ?? .alloy
        return .filled { [self] pieces in
            if try await speakWithHibari(text, voice, pieces) { return }
            fallbacks.add(1, ordering: .relaxed)
            for try await var piece in flite.synthesize(text, style: voice.fallback) {
                piece.isFallback = true
                pieces.yield(piece)
            }
        }
    }

    /// - Returns: false if Hibari failed before its first audio.
    private func speakWithHibari(
        _ text: String, _ voice: EmbeddedVoice, _ pieces: AsyncThrowingStream<SynthesizedSpeech, any Error>.Continuation
    ) async throws -> Bool {
        guard let hibari else { return false }
        let hasBegun = Flag()
        let firstAudioMax = hibari.helper.isReady ? firstAudioMax : firstAudioMax + Self.startMax
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    for try await piece in hibari.synthesize(text, style: voice.style) {
                        hasBegun.raise()
                        pieces.yield(piece)
                    }
                    return true
                }
                group.addTask {
                    try await Task.sleep(for: firstAudioMax)
                    if hasBegun.isRaised { return false }
                    throw ProviderError(.timeout, "The speech synthesizer stays silent.")
                }
                defer { group.cancelAll() }
                while let isComplete = try await group.next(), !isComplete {}
            }
            return true
        } catch let error as ProviderError where error.code != .rejected && !hasBegun.isRaised {
            if fallbacks.load(ordering: .relaxed) == 0 {
                logger.warning("the natural voices failed; a simple voice speaks instead", metadata: ["reason": "\(error)"])
            }
            return false
        }
    }
}

/// Something that happens once, seen by several tasks.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

/// The product voices as the embedded engines speak them.
///
/// All are derived from Hibari's one voice, which is clearer than flite's: the pitch of its source, its formants (the apparent length of the
/// vocal tract), its speaking rate and its intonation are changed independently.
public enum EmbeddedVoice: String, CaseIterable, Sendable {
    /// The model's own voice: female, about 200 Hz. The default.
    case alloy
    /// Male, about 125 Hz.
    case echo
    /// Between male and female, about 150 Hz, with a lively intonation.
    case fable
    /// Male and deep, about 95 Hz, slower.
    case onyx
    /// Female and bright, about 225 Hz, faster.
    case nova
    /// Female and calm, about 170 Hz, slower.
    case shimmer

    var style: HibariSynthesizer.Style {
        switch self {
        case .alloy: .init()
        case .echo: .init(pitch: 0.62, formant: 0.86)
        case .fable: .init(speed: 0.98, pitch: 0.76, formant: 0.92, intonation: 1.35)
        case .onyx: .init(speed: 0.95, pitch: 0.48, formant: 0.8, intonation: 0.9)
        case .nova: .init(speed: 1.05, pitch: 1.14, formant: 1.09, intonation: 1.1)
        case .shimmer: .init(speed: 0.94, pitch: 0.87, formant: 0.95, intonation: 0.8)
        }
    }

    /// The voice that speaks if Hibari is unavailable.
    var fallback: FliteSynthesizer.Style {
        switch self {
        case .alloy: .init(voice: .slt)
        case .echo: .init(voice: .rms)
        case .fable: .init(voice: .awb)
        case .onyx: .init(voice: .rms, shift: 0.85)
        case .nova: .init(voice: .slt, shift: 1.12)
        case .shimmer: .init(voice: .slt, shift: 0.9)
        }
    }
}

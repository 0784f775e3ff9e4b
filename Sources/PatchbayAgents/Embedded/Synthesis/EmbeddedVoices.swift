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

/// Why a resampler could not be made, or stopped.
public enum ResamplerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A rate outside `Resampler.sampleRates`.
    case sampleRate(Int)
    /// A channel count below 1 or above 255, or a quality outside 0 to 10.
    case setting(channels: Int, quality: Int)
    /// speexdsp answered with an error code; in practice, no memory.
    case library(code: Int)

    public var description: String {
        switch self {
        case .sampleRate(let rate):
            "Cannot resample from or to \(rate) Hz; choose a rate from 1000 to 768000 Hz."
        case .setting(let channels, let quality):
            "A resampler takes 1 to 255 channels and quality 0 to 10, not \(channels) and \(quality)."
        case .library(let code):
            "The resampler failed with speexdsp's code \(code); make a new one."
        }
    }
}

internal import COpus

/// Why an Opus encoder or decoder could not be made, or refused its input.
public enum OpusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Opus works at 8, 12, 16, 24 and 48 kHz only.
    case sampleRate(Int)
    /// One or two channels; more need the multistream format, which the gateway does not carry.
    case channels(Int)
    /// A setting outside its range.
    case setting(String, Int, allowed: ClosedRange<Int>)
    /// The samples handed in or asked for are no whole number of Opus frames.
    case frameLength(samples: Int)
    /// The packet breaks one of the rules of RFC 6716 section 3.4.
    case packet(OpusPacket.Fault)
    /// libopus answered with a code that the checks before should have made impossible, or it had no memory.
    case library(code: Int)

    public var description: String {
        switch self {
        case .sampleRate(let rate):
            "Opus cannot run at \(rate) Hz; resample to 8000, 12000, 16000, 24000 or 48000 Hz."
        case .channels(let count):
            "Opus takes 1 or 2 channels here, not \(count); mix down first."
        case .setting(let name, let value, let allowed):
            "The Opus setting \(name) is \(value); choose \(allowed.lowerBound) to \(allowed.upperBound)."
        case .frameLength(let samples):
            "\(samples) samples are no Opus frame; use 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms at the codec's rate."
        case .packet(let fault):
            "Not an Opus packet: \(fault) Conceal its duration instead."
        case .library(let code):
            "libopus failed with code \(code) (\(Self.explanation(of: code))); make a new codec state."
        }
    }

    private static func explanation(of code: Int) -> String {
        unsafe String(cString: opus_strerror(Int32(truncatingIfNeeded: code)))
    }
}

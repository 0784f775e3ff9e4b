/// Why an Opus encoder or decoder could not be created, or rejected its input.
public enum OpusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Opus supports 8, 12, 16, 24 and 48 kHz only.
    case sampleRate(Int)
    /// One or two channels; more need the multistream format, which is not supported.
    case channels(Int)
    /// A setting outside its range.
    case setting(String, Int, allowed: ClosedRange<Int>)
    /// The sample count is not a valid Opus frame length.
    case frameLength(samples: Int)
    /// The packet violates RFC 6716 section 3.4.
    case packet(OpusPacket.Fault)
    /// An unexpected error code of the codec, or out of memory.
    case library(code: Int)

    public var description: String {
        switch self {
        case .sampleRate(let rate):
            "Opus cannot run at \(rate) Hz; resample to 8000, 12000, 16000, 24000 or 48000 Hz."
        case .channels(let count):
            "Opus supports 1 or 2 channels here, not \(count); mix down first."
        case .setting(let name, let value, let allowed):
            "The Opus setting \(name) is \(value); choose \(allowed.lowerBound) to \(allowed.upperBound)."
        case .frameLength(let samples):
            "\(samples) samples are not a valid Opus frame length; use 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms at the codec's rate."
        case .packet(let fault):
            "Not an Opus packet: \(fault) Conceal its duration instead."
        case .library(let code):
            "The Opus codec failed with code \(code) (\(SpeechCodec.explanation(of: code))); create a new encoder or decoder."
        }
    }
}

/// The sample rates and frame lengths of Opus (RFC 6716 section 2).
enum OpusRate {
    /// Allocates nothing, because it is used for every frame.
    struct FrameSamples {
        /// Samples per channel in 2.5 ms.
        let unit: Int

        func contains(_ samples: Int) -> Bool {
            guard samples > 0, samples.isMultiple(of: unit) else { return false }
            return switch samples / unit {
            case 1, 2, 4, 8, 16, 24, 32, 40, 48: true
            default: false
            }
        }
    }

    static func frameSamples(at sampleRate: Int) -> FrameSamples {
        FrameSamples(unit: sampleRate / 400)
    }

    static func check(sampleRate: Int, channels: Int) throws(OpusError) {
        guard [8_000, 12_000, 16_000, 24_000, 48_000].contains(sampleRate) else { throw .sampleRate(sampleRate) }
        guard (1...2).contains(channels) else { throw .channels(channels) }
    }
}

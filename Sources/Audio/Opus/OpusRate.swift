/// The sample rates and frame lengths that Opus knows (RFC 6716 section 2).
enum OpusRate {
    /// No allocation: asked for on every frame.
    struct FrameSamples {
        /// Samples a channel in 2.5 ms.
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

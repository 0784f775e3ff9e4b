/// 16-bit audio in memory, interleaved if there are several channels.
public struct PCMBuffer: Hashable, Sendable {
    public var samples: [Int16]
    /// Hz.
    public let sampleRate: Int
    public let channels: Int

    public init(samples: [Int16], sampleRate: Int = 48_000, channels: Int = 1) {
        precondition(sampleRate > 0 && channels > 0, "sample rate and channel count must be positive")
        precondition(samples.count.isMultiple(of: channels), "the sample count must be a multiple of the channel count")
        self.samples = samples
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Samples per channel.
    public var frameCount: Int { samples.count / channels }

    public var duration: Duration {
        .seconds(frameCount / sampleRate) + .nanoseconds(frameCount % sampleRate * 1_000_000_000 / sampleRate)
    }

    /// The mean of all channels, which cannot clip.
    public func mixedToMono() -> PCMBuffer {
        if channels == 1 { return self }
        let mono = (0..<frameCount).map { frame in
            let sum = samples[(frame * channels)..<((frame + 1) * channels)].reduce(0) { $0 + Int($1) }
            return Int16(sum / channels)
        }
        return PCMBuffer(samples: mono, sampleRate: sampleRate)
    }
}

extension PCMBuffer {
    /// The same audio at another rate, aligned with the original: round(frameCount × rate / sampleRate) samples per channel.
    public func resampled(to rate: Int, quality: Int = 10) throws(ResamplerError) -> PCMBuffer {
        if rate == sampleRate { return self }
        var resampler = try Resampler(from: sampleRate, to: rate, channels: channels, quality: quality)
        var converted = try resampler.process(samples)
        converted += try resampler.finish()
        return PCMBuffer(samples: converted, sampleRate: rate, channels: channels)
    }
}

/// A stretch of sound in memory: 16-bit samples, interleaved if there are several channels.
public struct PCMBuffer: Hashable, Sendable {
    public var samples: [Int16]
    /// Hz.
    public let sampleRate: Int
    public let channels: Int

    public init(samples: [Int16], sampleRate: Int = 48_000, channels: Int = 1) {
        precondition(sampleRate > 0 && channels > 0, "A PCM buffer needs a sample rate and a channel count above zero.")
        precondition(samples.count.isMultiple(of: channels), "A PCM buffer holds as many samples in each channel.")
        self.samples = samples
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Samples in one channel.
    public var frameCount: Int { samples.count / channels }

    public var duration: Duration {
        .seconds(frameCount / sampleRate) + .nanoseconds(frameCount % sampleRate * 1_000_000_000 / sampleRate)
    }

    /// The mean of all channels, so that nothing clips.
    public func mixedToMono() -> PCMBuffer {
        if channels == 1 { return self }
        let mono = (0..<frameCount).map { frame in
            let sum = samples[(frame * channels)..<((frame + 1) * channels)].reduce(0) { $0 + Int($1) }
            return Int16(sum / channels)
        }
        return PCMBuffer(samples: mono, sampleRate: sampleRate)
    }
}

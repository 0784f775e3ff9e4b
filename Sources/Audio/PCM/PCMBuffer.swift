internal import Foundation

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

/// The audio level of a frame (RFC 6464): 0 (loudest) to 127 (silence) in -dBov.
///
/// 0 dBov is the overload point, a full-scale square wave. A full-scale sine wave therefore has level 3.
public struct AudioLevel: Hashable, Sendable, CustomStringConvertible {
    /// Digital silence, or anything below -126.5 dBov.
    public static let silence = AudioLevel(127)

    /// 0 to 127, in decibels below overload.
    public let value: UInt8

    /// Values above 127 are silence.
    public init(_ value: UInt8) {
        self.value = min(value, 127)
    }

    /// The root mean square of all samples and channels (RFC 6465 appendix A). An empty span is silence.
    public init(of pcm: Span<Int16>) {
        self.init(decibels: Self.decibels(of: pcm))
    }

    public init(of pcm: [Int16]) {
        self.init(of: pcm.span)
    }

    init(decibels: Double) {
        self.init(UInt8((-decibels).rounded().clamped(to: 0...127)))
    }

    /// The level in decibels, 0 to -127.
    public var dBov: Int { -Int(value) }

    public var description: String { "\(dBov) dBov" }

    /// Between -127 and 0.
    static func decibels(of pcm: Span<Int16>) -> Double {
        var energy: UInt64 = 0
        for index in pcm.indices {
            let sample = Int64(pcm[index])
            energy &+= UInt64(sample * sample)
        }
        guard energy > 0 else { return -127 }
        let meanSquare = Double(energy) / Double(pcm.count)
        return (10 * log10(meanSquare / overloadSquared)).clamped(to: -127...0)
    }

    private static let overloadSquared = 32_767.0 * 32_767.0
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

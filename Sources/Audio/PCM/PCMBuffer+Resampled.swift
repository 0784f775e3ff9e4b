extension PCMBuffer {
    /// The same sound at another rate: aligned with the original, and round(frameCount × rate / sampleRate) samples a channel long.
    public func resampled(to rate: Int, quality: Int = 10) throws(ResamplerError) -> PCMBuffer {
        if rate == sampleRate { return self }
        var resampler = try Resampler(from: sampleRate, to: rate, channels: channels, quality: quality)
        var converted = try resampler.process(samples)
        converted += try resampler.finish()
        return PCMBuffer(samples: converted, sampleRate: rate, channels: channels)
    }
}

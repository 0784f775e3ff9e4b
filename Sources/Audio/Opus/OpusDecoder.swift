/// Decodes Opus packets to PCM (RFC 6716) and conceals lost ones.
///
/// A decoder carries state from packet to packet: use one per track, in order, and report every loss with `conceal(samples:)` or
/// `recover(samples:from:)`. Not `Sendable`: create it where it is used.
public struct OpusDecoder: ~Copyable {
    /// Output rate in Hz; any packet decodes to any of Opus's rates.
    public let sampleRate: Int
    /// Output channels, interleaved; packets are up- or downmixed as needed.
    public let channels: Int
    private var codec: SpeechCodec.Decoder

    /// - Parameters:
    ///   - sampleRate: 8,000, 12,000, 16,000, 24,000 or 48,000 Hz.
    ///   - channels: 1 or 2.
    /// - Throws: `OpusError` if a value is out of range or memory is short.
    public init(sampleRate: Int = 48_000, channels: Int = 1) throws(OpusError) {
        try OpusRate.check(sampleRate: sampleRate, channels: channels)
        codec = try SpeechCodec.Decoder(sampleRate: sampleRate, channels: channels)
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Decodes one packet and appends its samples to `pcm`, interleaved.
    ///
    /// - Returns: samples per channel, 2.5 to 120 ms of them.
    /// - Throws: `.packet` if the bytes are not an Opus packet; the state is unchanged then, so the loss can be concealed.
    public mutating func decode(_ packet: RawSpan, appendingTo pcm: inout [Int16]) throws(OpusError) -> Int {
        let samples = try self.samples(in: packet)
        return try codec.decode(packet, samples: samples, appendingTo: &pcm)
    }

    public mutating func decode(_ packet: RawSpan) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        _ = try decode(packet, appendingTo: &pcm)
        return pcm
    }

    public mutating func decode(_ packet: [UInt8]) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        _ = try decode(unsafe packet.span.bytes, appendingTo: &pcm)
        return pcm
    }

    /// Synthesizes audio for a lost packet: continues the last one and fades out (packet loss concealment). After DTX packets it is comfort
    /// noise.
    ///
    /// - Parameter samples: samples per channel, a multiple of 2.5 ms up to 120 ms; call again for more.
    public mutating func conceal(samples: Int) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        try conceal(samples: samples, appendingTo: &pcm)
        return pcm
    }

    public mutating func conceal(samples: Int, appendingTo pcm: inout [Int16]) throws(OpusError) {
        try check(lost: samples)
        try codec.conceal(samples: samples, following: nil, appendingTo: &pcm)
    }

    /// Reconstructs a lost packet from the in-band FEC of the following packet, which is decoded afterwards as usual. Without FEC in it, and
    /// on Apple platforms, whose codec does not use it, this equals `conceal(samples:)`.
    ///
    /// - Parameter samples: missing samples per channel, a multiple of 2.5 ms up to 120 ms.
    public mutating func recover(samples: Int, from following: RawSpan) throws(OpusError) -> [Int16] {
        try check(lost: samples)
        _ = try self.samples(in: following)
        var pcm: [Int16] = []
        try codec.conceal(samples: samples, following: following, appendingTo: &pcm)
        return pcm
    }

    public mutating func recover(samples: Int, from following: [UInt8]) throws(OpusError) -> [Int16] {
        try recover(samples: samples, from: unsafe following.span.bytes)
    }

    /// Resets the state, for a track whose epoch has changed.
    public mutating func reset() {
        codec.reset()
    }

    private func samples(in packet: RawSpan) throws(OpusError) -> Int {
        do {
            return try OpusPacket(packet).ticks * sampleRate / 48_000
        } catch {
            throw .packet(error)
        }
    }

    private func check(lost samples: Int) throws(OpusError) {
        guard samples > 0, samples.isMultiple(of: sampleRate / 400), samples * 48_000 / sampleRate <= OpusPacket.ticksLimit else {
            throw .frameLength(samples: samples)
        }
    }
}

internal import Wire

/// Encodes PCM to Opus packets (RFC 6716), one frame at a time.
///
/// An encoder carries state from frame to frame: use one per track, and feed it without gaps. Not `Sendable`: create it where it is used.
/// Encoding 20 ms takes about 0.2 ms of a core.
public struct OpusEncoder: ~Copyable {
    /// The optimization goal of the encoder (libopus's `OPUS_APPLICATION_…`; other codecs ignore it).
    public enum Application: Hashable, Sendable {
        /// Speech: intelligible at low rates.
        case voip
        /// Music and mixed audio: faithful to the input.
        case audio
        /// Lowest delay, without the speech codec; no DTX and no FEC.
        case lowDelay
    }

    /// Maximum packet size in bytes: what a frame of the Patchbay protocol can carry.
    public static let packetBytesLimit = ProtocolLimits.opusPacketBytesMax
    public static let bitsPerSecondRange = 6_000...510_000
    public static let complexityRange = 0...10
    public static let lossPercentRange = 0...100

    public let sampleRate: Int
    public let channels: Int
    private var codec: SpeechCodec.Encoder

    /// - Parameters:
    ///   - sampleRate: 8,000, 12,000, 16,000, 24,000 or 48,000 Hz.
    ///   - channels: 1, or 2 interleaved.
    ///   - bitsPerSecond: 6,000 to 510,000; nil lets libopus choose by rate and channels.
    ///   - dtx: sends almost nothing during silence.
    ///   - inbandFEC: adds a coarse copy of each frame to the next packet, if `expectedLossPercent` justifies it.
    ///   - expectedLossPercent: 0 to 100; the loss to prepare for.
    ///   - complexity: 0 (fast) to 10 (best).
    /// - Throws: `OpusError` if a value is out of range or memory is short.
    public init(
        sampleRate: Int = 48_000, channels: Int = 1, application: Application = .voip, bitsPerSecond: Int? = nil,
        dtx: Bool = false, inbandFEC: Bool = false, expectedLossPercent: Int = 0, complexity: Int = 9
    ) throws(OpusError) {
        try OpusRate.check(sampleRate: sampleRate, channels: channels)
        try Self.check("expectedLossPercent", expectedLossPercent, Self.lossPercentRange)
        try Self.check("complexity", complexity, Self.complexityRange)
        if let bitsPerSecond { try Self.check("bitsPerSecond", bitsPerSecond, Self.bitsPerSecondRange) }

        codec = try SpeechCodec.Encoder(
            SpeechCodec.EncoderSettings(
                sampleRate: sampleRate, channels: channels, application: application, bitsPerSecond: bitsPerSecond, dtx: dtx,
                inbandFEC: inbandFEC, expectedLossPercent: expectedLossPercent, complexity: complexity))
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Delay of the decoded audio in samples per channel at the encoder's rate; a player has to skip it.
    public var lookahead: Int { codec.lookahead }

    /// The lookahead in 48 kHz ticks, as in an Ogg Opus header's pre-skip (RFC 7845 section 4.2).
    public var preSkip: Int { lookahead * 48_000 / sampleRate }

    /// Encodes one frame and appends the packet to `packet`, for example after a frame header.
    ///
    /// - Parameter pcm: interleaved samples of 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms.
    /// - Returns: the packet's length in bytes; with DTX, `OpusPacket.isDTX(byteCount:)` tells whether it may be omitted.
    public mutating func encode(_ pcm: Span<Int16>, appendingTo packet: inout [UInt8]) throws(OpusError) -> Int {
        let samples = pcm.count / channels
        guard samples * channels == pcm.count, OpusRate.frameSamples(at: sampleRate).contains(samples) else {
            throw .frameLength(samples: samples)
        }
        return try codec.encode(pcm, samples: samples, appendingTo: &packet)
    }

    public mutating func encode(_ pcm: Span<Int16>) throws(OpusError) -> [UInt8] {
        var packet: [UInt8] = []
        _ = try encode(pcm, appendingTo: &packet)
        return packet
    }

    public mutating func encode(_ pcm: [Int16]) throws(OpusError) -> [UInt8] {
        try encode(pcm.span)
    }

    /// Resets the state but keeps the settings, for a track that restarts after an interruption.
    public mutating func reset() {
        codec.reset()
    }
}

extension OpusEncoder {
    private static func check(_ name: String, _ value: Int, _ allowed: ClosedRange<Int>) throws(OpusError) {
        guard allowed.contains(value) else { throw .setting(name, value, allowed: allowed) }
    }
}

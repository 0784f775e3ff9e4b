internal import Audio
public import Wire

/// One Opus packet with the header fields that the sender chooses.
public struct SpokenFrame: Sendable, Hashable {
    /// 1 to 1,488 bytes.
    public var packet: [UInt8]
    /// Duration in 48 kHz ticks: 120 (2.5 ms) to 5,760 (120 ms).
    public var ticks: Int
    /// Ticks of silence before it that are not sent.
    public var silenceBefore: Int
    public var level: AudioLevelByte
    public var flags: FrameFlags

    public init(packet: [UInt8], ticks: Int, silenceBefore: Int = 0, level: AudioLevelByte, flags: FrameFlags = []) {
        self.packet = packet
        self.ticks = ticks
        self.silenceBefore = silenceBefore
        self.level = level
        self.flags = flags
    }

    /// Received frames for sending again: the same packets, levels, flags and pauses.
    ///
    /// - Parameter frames: of one track, in order. Invalid Opus packets are left out.
    public static func repeating(_ frames: [ReceivedFrame]) -> [SpokenFrame] {
        var repeated: [SpokenFrame] = []
        var end = frames.first?.header.timestamp
        for frame in frames {
            guard let ticks = try? OpusPacket(frame.packet).ticks else { continue }
            let silence = end.map { Int(frame.header.timestamp.distance(from: $0)) } ?? 0
            end = frame.header.timestamp.advanced(by: ticks)
            repeated.append(
                SpokenFrame(
                    packet: frame.packet, ticks: ticks, silenceBefore: max(silence, 0), level: frame.header.level,
                    flags: frame.header.flags.subtracting(.forbiddenToSenders)))
        }
        return repeated
    }
}

/// Opus encoder settings.
public struct SpeechSettings: Sendable, Hashable {
    /// 6,000 to 510,000; nil lets the encoder choose.
    public var bitsPerSecond: Int?
    /// Discontinuous transmission: omits packets during silence.
    public var dtx: Bool
    /// Adds a low-bit-rate copy of each packet to the next one.
    public var inbandFEC: Bool
    /// Expected packet loss, 0 to 100.
    public var expectedLossPercent: Int
    /// 1, or 2 interleaved.
    public var channels: Int

    public init(
        bitsPerSecond: Int? = nil, dtx: Bool = false, inbandFEC: Bool = false, expectedLossPercent: Int = 0, channels: Int = 1
    ) {
        self.bitsPerSecond = bitsPerSecond
        self.dtx = dtx
        self.inbandFEC = inbandFEC
        self.expectedLossPercent = expectedLossPercent
        self.channels = channels
    }
}

public import Wire

/// One Opus packet, with what its frame header is to say: ready to be sent.
public struct SpokenFrame: Sendable, Hashable {
    /// 1 to 1,488 bytes.
    public var packet: [UInt8]
    /// How long it lasts, in 48 kHz ticks: 120 (2.5 ms) to 5,760 (120 ms).
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
}

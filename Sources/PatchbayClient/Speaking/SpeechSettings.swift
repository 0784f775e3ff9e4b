/// How PCM becomes Opus.
public struct SpeechSettings: Sendable, Hashable {
    /// 6,000 to 510,000; nil lets the encoder choose.
    public var bitsPerSecond: Int?
    /// Sends next to nothing while there is silence.
    public var dtx: Bool
    /// Adds a coarse copy of each packet to the next one.
    public var inbandFEC: Bool
    /// How much loss to prepare for, 0 to 100.
    public var expectedLossPercent: Int
    /// 1 or 2; what goes in is interleaved.
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

/// 20 ms of a track's sound.
public struct PCMChunk: Sendable, Hashable {
    /// What its samples are, for the most part.
    public enum Content: Sendable, Hashable {
        /// Decoded from what was sent.
        case sound
        /// Invented by the decoder in the place of what did not come.
        case concealment
        /// Nobody speaks.
        case silence
    }

    /// 48,000 Hz.
    public static let sampleRate = 48_000
    /// 20 ms.
    public static let samplesPerChannel = 960

    /// 960 a channel, interleaved.
    public let samples: [Int16]
    /// 1 or 2.
    public let channels: Int
    public let content: Content
}

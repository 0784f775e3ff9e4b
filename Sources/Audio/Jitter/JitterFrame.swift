public import Wire

/// A frame as the jitter buffer sees it: where it belongs, how long it lasts, and the caller's payload.
public struct JitterFrame<Payload> {
    public let sequence: SequenceNumber
    public let timestamp: MediaTime
    /// 48 kHz ticks, 120 (2.5 ms) to 5,760 (120 ms).
    public let ticks: Int
    /// False if nobody speaks in it (the frame header's voice bit), so that it may be left out to catch up.
    public let isVoice: Bool
    /// The frame header's flag for the first frame after a pause.
    public let startsTalkspurt: Bool
    /// The flag for the last frame before a pause.
    public let endsTalkspurt: Bool
    public let payload: Payload

    public init(
        sequence: SequenceNumber, timestamp: MediaTime, ticks: Int, isVoice: Bool = true, startsTalkspurt: Bool = false,
        endsTalkspurt: Bool = false, payload: Payload
    ) {
        self.sequence = sequence
        self.timestamp = timestamp
        self.ticks = ticks
        self.isVoice = isVoice
        self.startsTalkspurt = startsTalkspurt
        self.endsTalkspurt = endsTalkspurt
        self.payload = payload
    }
}

extension JitterFrame: Sendable where Payload: Sendable {}
extension JitterFrame: Equatable where Payload: Equatable {}

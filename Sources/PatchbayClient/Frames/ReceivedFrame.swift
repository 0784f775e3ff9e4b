public import Wire

/// One frame of somebody's track as it came: the header and the Opus packet, byte for byte as they were published
/// (but for the header's flag 0x08, which the gateway may set).
public struct ReceivedFrame: Sendable, Hashable {
    public let header: FrameHeader
    /// One Opus packet (RFC 6716), 1 to 1,488 bytes.
    public let packet: [UInt8]
    /// When it was taken from the socket, by `MediaClock`.
    public let arrivedAt: Instant

    public init(header: FrameHeader, packet: [UInt8], arrivedAt: Instant) {
        self.header = header
        self.packet = packet
        self.arrivedAt = arrivedAt
    }
}

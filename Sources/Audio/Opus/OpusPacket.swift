/// What an Opus packet says about itself, read from its first bytes without decoding it (RFC 6716 section 3).
///
/// Reading is total and allocates nothing: any bytes give either a value or a `Fault`. A value means that the packet keeps
/// the rules R1 to R7 of section 3.4, so a decoder will find every frame inside it.
public struct OpusPacket: Hashable, Sendable {
    /// Which of the two codecs inside Opus made the packet (RFC 6716 section 2).
    public enum Mode: Hashable, Sendable {
        /// Linear prediction, for speech at low rates.
        case silk
        /// SILK below 8 kHz and CELT above.
        case hybrid
        /// Transform coding, for music and low delay.
        case celt
    }

    /// The audio bandwidth, with its upper end in hertz as raw value (RFC 6716 table 1).
    public enum Bandwidth: Int, Hashable, Sendable {
        case narrow = 4_000
        case medium = 6_000
        case wide = 8_000
        case superWide = 12_000
        case full = 20_000
    }

    /// The longest packet there may be, in 48 kHz ticks: 120 ms.
    public static let ticksLimit = 5_760
    /// The longest frame inside a packet, in bytes (RFC 6716 section 3.4, R2).
    public static let frameBytesLimit = 1_275

    public let mode: Mode
    public let bandwidth: Bandwidth
    /// 1 or 2. A decoder gives as many channels as it was made for, whatever the packet holds.
    public let channels: Int
    /// How many frames share the packet, 1 to 48.
    public let frameCount: Int
    /// Duration of one frame in 48 kHz ticks: 120 (2.5 ms) to 2,880 (60 ms).
    public let ticksPerFrame: Int
    /// The packet's own length.
    public let byteCount: Int

    /// Duration of the packet in 48 kHz ticks, 120 to 5,760, whatever rate the audio was recorded at.
    public var ticks: Int { frameCount * ticksPerFrame }

    /// True if the encoder had nothing to say: it need not be sent (libopus's promise for packets of 1 or 2 bytes).
    public var isDTX: Bool { Self.isDTX(byteCount: byteCount) }

    public static func isDTX(byteCount: Int) -> Bool { byteCount <= 2 }

    public init(_ packet: [UInt8]) throws(Fault) {
        try self.init(unsafe packet.span.bytes)
    }

    public init(_ packet: RawSpan) throws(Fault) {
        let (toc, count) = try Self.read(packet)
        self.init(toc: toc, frameCount: count, byteCount: packet.byteCount)
    }

    private init(toc: OpusTOC, frameCount: Int, byteCount: Int) {
        self.mode = toc.mode
        self.bandwidth = toc.bandwidth
        self.channels = toc.channels
        self.frameCount = frameCount
        self.ticksPerFrame = toc.ticksPerFrame
        self.byteCount = byteCount
    }

    private static func read(_ packet: RawSpan) throws(Fault) -> (OpusTOC, frameCount: Int) {
        guard !packet.isEmpty else { throw .empty }
        let toc = OpusTOC(byte: packet.byte(at: 0))
        let frameCount = try OpusFraming.frameCount(of: packet, toc)
        guard frameCount * toc.ticksPerFrame <= ticksLimit else { throw .frameCount }
        return (toc, frameCount)
    }
}

extension RawSpan {
    /// Checked against the bounds, like an array's subscript.
    func byte(at offset: Int) -> UInt8 {
        // Every bit pattern is a byte, so the load cannot make an invalid value.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

/// The properties of an Opus packet, read from its first bytes without decoding it (RFC 6716 section 3).
///
/// Parsing accepts any bytes, allocates nothing, and returns either a value or a `Fault`. A value guarantees that the packet conforms to rules
/// R1 to R7 of section 3.4, so a decoder finds every frame in it.
public struct OpusPacket: Hashable, Sendable {
    /// The codec inside Opus that produced the packet (RFC 6716 section 2).
    public enum Mode: Hashable, Sendable {
        /// Linear prediction, for speech at low rates.
        case silk
        /// SILK below 8 kHz and CELT above.
        case hybrid
        /// Transform coding, for music and low delay.
        case celt
    }

    /// The audio bandwidth; the raw value is its upper limit in hertz (RFC 6716 table 1).
    public enum Bandwidth: Int, Hashable, Sendable {
        case narrow = 4_000
        case medium = 6_000
        case wide = 8_000
        case superWide = 12_000
        case full = 20_000
    }

    /// Duration of the longest valid packet in 48 kHz ticks: 120 ms.
    public static let ticksLimit = 5_760
    /// The longest frame inside a packet, in bytes (RFC 6716 section 3.4, R2).
    public static let frameBytesLimit = 1_275

    public let mode: Mode
    public let bandwidth: Bandwidth
    /// 1 or 2. A decoder's output channels do not depend on it.
    public let channels: Int
    /// Number of frames in the packet, 1 to 48.
    public let frameCount: Int
    /// Duration of one frame in 48 kHz ticks: 120 (2.5 ms) to 2,880 (60 ms).
    public let ticksPerFrame: Int
    /// The packet's length.
    public let byteCount: Int

    /// Duration of the packet in 48 kHz ticks, 120 to 5,760, regardless of the sample rate of the recording.
    public var ticks: Int { frameCount * ticksPerFrame }

    /// Whether the encoder had nothing to send, so the packet may be omitted (libopus guarantees this for packets of 1 or 2 bytes).
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
    /// Bounds-checked, like an array's subscript.
    func byte(at offset: Int) -> UInt8 {
        // Every bit pattern is a valid byte.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

extension OpusPacket {
    /// The rule of RFC 6716 section 3.4 that a packet violates.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// R1: a packet has at least one byte.
        case empty
        /// R2: a frame has at most 1,275 bytes.
        case frameTooLong
        /// R3 and R6: frames of equal length do not divide the bytes that are there.
        case unevenFrames
        /// R5: no frame at all, or more than 120 ms of them.
        case frameCount
        /// R4, R6 and R7: a length or the padding reaches past the end.
        case truncated

        public var description: String {
            switch self {
            case .empty: "it is empty (R1)."
            case .frameTooLong: "a frame is longer than 1275 bytes (R2)."
            case .unevenFrames: "its frames should be of equal length, but the bytes do not divide (R3, R6)."
            case .frameCount: "it holds no frame, or more than 120 ms (R5)."
            case .truncated: "a length or its padding reaches past its end (R4, R6, R7)."
            }
        }
    }
}

/// An Opus packet's first byte: configuration, stereo bit, frame count code (RFC 6716 section 3.1).
package struct OpusTOC {
    package let byte: UInt8

    package init(byte: UInt8) {
        self.byte = byte
    }

    private var configuration: Int { Int(byte >> 3) }

    /// 0: one frame, 1: two equal frames, 2: two frames, 3: any number of frames.
    var countCode: UInt8 { byte & 0b11 }

    var channels: Int { byte & 0b100 == 0 ? 1 : 2 }

    package var mode: OpusPacket.Mode {
        switch configuration {
        case ..<12: .silk
        case ..<16: .hybrid
        default: .celt
        }
    }

    package var bandwidth: OpusPacket.Bandwidth {
        switch configuration {
        case 0..<4, 16..<20: .narrow
        case 4..<8: .medium
        case 8..<12, 20..<24: .wide
        case 12..<14, 24..<28: .superWide
        default: .full
        }
    }

    /// 120 to 2,880. Durations double from one configuration to the next, except for SILK's 60 ms.
    package var ticksPerFrame: Int {
        switch mode {
        case .silk: configuration & 0b11 == 0b11 ? 2_880 : 480 << (configuration & 0b11)
        case .hybrid: 480 << (configuration & 0b1)
        case .celt: 120 << (configuration & 0b11)
        }
    }
}

/// Validates the lengths inside a packet against rules R2 to R7 (RFC 6716 sections 3.2 and 3.4).
enum OpusFraming {
    /// - Precondition: `packet` has at least its TOC byte.
    static func frameCount(of packet: RawSpan, _ toc: OpusTOC) throws(OpusPacket.Fault) -> Int {
        let body = 1..<packet.byteCount
        switch toc.countCode {
        case 0:
            try checkEqualFrames(1, in: body)
            return 1
        case 1:
            try checkEqualFrames(2, in: body)
            return 2
        case 2:
            try checkCodedLengths(1, in: body, of: packet)
            return 2
        default:
            return try countSignalledFrames(in: body, of: packet, ticksPerFrame: toc.ticksPerFrame)
        }
    }

    /// Code 3: a byte `v p M M M M M M`, the padding's length, then the frames (section 3.2.5).
    private static func countSignalledFrames(
        in body: Range<Int>, of packet: RawSpan, ticksPerFrame: Int
    ) throws(OpusPacket.Fault) -> Int {
        guard !body.isEmpty else { throw .truncated }
        let signal = packet.byte(at: body.lowerBound)
        let count = Int(signal & 0b11_1111)
        guard count > 0, count * ticksPerFrame <= OpusPacket.ticksLimit else { throw .frameCount }

        var frames = body.dropFirst()
        if signal & 0b100_0000 != 0 {
            frames = try stripPadding(from: frames, of: packet)
        }
        if signal & 0b1000_0000 != 0 {
            try checkCodedLengths(count - 1, in: frames, of: packet)
        } else {
            try checkEqualFrames(count, in: frames)
        }
        return count
    }

    /// A length byte of 255 means 254 bytes of padding and another length byte.
    private static func stripPadding(from body: Range<Int>, of packet: RawSpan) throws(OpusPacket.Fault) -> Range<Int> {
        var next = body.lowerBound
        var padding = 0
        while true {
            guard next < body.upperBound else { throw .truncated }
            let byte = packet.byte(at: next)
            next += 1
            padding += min(Int(byte), 254)
            if byte < 255 { break }
        }
        guard next + padding <= body.upperBound else { throw .truncated }
        return next..<(body.upperBound - padding)
    }

    private static func checkEqualFrames(_ count: Int, in body: Range<Int>) throws(OpusPacket.Fault) {
        guard body.count.isMultiple(of: count) else { throw .unevenFrames }
        guard body.count / count <= OpusPacket.frameBytesLimit else { throw .frameTooLong }
    }

    /// All frames but the last have a length of one or two bytes (section 3.2.1); the last takes the rest.
    private static func checkCodedLengths(_ count: Int, in body: Range<Int>, of packet: RawSpan) throws(OpusPacket.Fault) {
        var next = body.lowerBound
        var sum = 0
        for _ in 0..<count {
            guard next < body.upperBound else { throw .truncated }
            var length = Int(packet.byte(at: next))
            next += 1
            if length >= 252 {
                guard next < body.upperBound else { throw .truncated }
                length += 4 * Int(packet.byte(at: next))
                next += 1
            }
            sum += length
        }
        let last = body.upperBound - next - sum
        guard last >= 0 else { throw .truncated }
        guard last <= OpusPacket.frameBytesLimit else { throw .frameTooLong }
    }
}

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

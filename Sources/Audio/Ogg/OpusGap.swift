/// Fills a pause in a stream with packets that hold no sound (RFC 7845 section 4.1).
///
/// Each frame in them has zero bytes, which asks the decoder to conceal a loss: it fades out, or goes on with comfort noise
/// after DTX. So 120 ms of pause cost two bytes, and every player keeps the time.
enum OpusGap {
    /// Packets that last `ticks` in all, rounded down to 2.5 ms, in the coding of the packet before.
    static func packets(ticks: Int, after previous: OpusTOC) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var left = ticks
        for toc in codings(after: previous) {
            let framesPerPacket = OpusPacket.ticksLimit / toc.ticksPerFrame
            while left >= toc.ticksPerFrame {
                let frames = min(left / toc.ticksPerFrame, framesPerPacket)
                // Code 3: the second byte counts frames, all of the same length, which is zero.
                packets.append(frames == 1 ? [toc.byte] : [toc.byte | 0b11, UInt8(frames)])
                left -= frames * toc.ticksPerFrame
            }
        }
        return packets
    }

    /// Longest frames first: 20 and 10 ms in the previous packet's mode, so that the decoder need not switch, and CELT's 5 and
    /// 2.5 ms for the rest, which no other mode has.
    private static func codings(after previous: OpusTOC) -> [OpusTOC] {
        let stereo = previous.byte & 0b100
        let configuration = previous.byte >> 3
        let celt: UInt8 =
            switch previous.bandwidth {
            case .narrow: 16
            case .medium, .wide: 20
            case .superWide: 24
            case .full: 28
            }
        let (twenty, ten): (UInt8, UInt8) =
            switch previous.mode {
            case .silk: (configuration & ~0b11 | 1, configuration & ~0b11)
            case .hybrid: (configuration & ~0b1 | 1, configuration & ~0b1)
            case .celt: (celt + 3, celt + 2)
            }
        return [twenty, ten, celt + 1, celt].map { OpusTOC(byte: $0 << 3 | stereo) }
    }
}

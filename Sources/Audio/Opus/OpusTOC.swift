/// An Opus packet's first byte: configuration, stereo bit, frame count code (RFC 6716 section 3.1).
struct OpusTOC {
    let byte: UInt8

    private var configuration: Int { Int(byte >> 3) }

    /// 0: one frame, 1: two equal frames, 2: two frames, 3: any number of frames.
    var countCode: UInt8 { byte & 0b11 }

    var channels: Int { byte & 0b100 == 0 ? 1 : 2 }

    var mode: OpusPacket.Mode {
        switch configuration {
        case ..<12: .silk
        case ..<16: .hybrid
        default: .celt
        }
    }

    var bandwidth: OpusPacket.Bandwidth {
        switch configuration {
        case 0..<4, 16..<20: .narrow
        case 4..<8: .medium
        case 8..<12, 20..<24: .wide
        case 12..<14, 24..<28: .superWide
        default: .full
        }
    }

    /// 120 to 2,880: durations double from one configuration to the next, but for SILK's 60 ms.
    var ticksPerFrame: Int {
        switch mode {
        case .silk: configuration & 0b11 == 0b11 ? 2_880 : 480 << (configuration & 0b11)
        case .hybrid: 480 << (configuration & 0b1)
        case .celt: 120 << (configuration & 0b11)
        }
    }
}

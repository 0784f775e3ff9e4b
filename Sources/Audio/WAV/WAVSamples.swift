/// A data chunk's bytes as 16-bit samples.
enum WAVSamples {
    static func decode(_ data: ArraySlice<UInt8>, _ format: WAVFormat) -> [Int16] {
        let bytesPerSample = format.bytesPerFrame / format.channels
        let samples = data.count / format.bytesPerFrame * format.channels
        return (0..<samples).map { index in
            let bytes = data[(data.startIndex + index * bytesPerSample)...]
            return switch format.encoding {
            case .integer(bytes: 1): Int16(Int(bytes[bytes.startIndex]) - 128) << 8
            case .integer(let width): rounded(integer(bytes.prefix(width)))
            case .float32: rounded(Float(bitPattern: bytes.littleEndian(at: 0) ?? 0))
            }
        }
    }

    /// Left-justified in 32 bits, whatever its width.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int32 {
        bytes.reduce(UInt32(0)) { $0 >> 8 | UInt32($1) << 24 }.asSigned
    }

    private static func rounded(_ sample: Int32) -> Int16 {
        Int16(clamping: (Int(sample) + 0x8000) >> 16)
    }

    /// Full scale is 1; what is louder clips, and what is no number is silence.
    private static func rounded(_ sample: Float) -> Int16 {
        if sample.isNaN { return 0 }
        return Int16(min(max((sample * 32_768).rounded(), -32_768), 32_767))
    }
}

extension UInt32 {
    fileprivate var asSigned: Int32 { Int32(bitPattern: self) }
}

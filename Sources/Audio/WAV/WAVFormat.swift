/// The `fmt ` chunk (`WAVEFORMATEX`, `WAVEFORMATEXTENSIBLE`).
struct WAVFormat {
    enum Encoding {
        case integer(bytes: Int)
        case float32
    }

    static let pcmTag = 1
    private static let floatTag = 3
    private static let extensibleTag = 0xFFFE
    /// Rates that occur, from telephone recordings' halves to studio masters; everything else is a broken header.
    private static let sampleRates = 1_000...768_000

    let encoding: Encoding
    let channels: Int
    let sampleRate: Int
    let bytesPerFrame: Int

    init(_ chunk: ArraySlice<UInt8>) throws(WAVError) {
        guard let outerTag = chunk.littleEndian(at: 0, as: UInt16.self).map(Int.init),
            let channels = chunk.littleEndian(at: 2, as: UInt16.self).map(Int.init),
            let sampleRate = chunk.littleEndian(at: 4, as: UInt32.self).map(Int.init),
            let bytesPerFrame = chunk.littleEndian(at: 12, as: UInt16.self).map(Int.init),
            let bits = chunk.littleEndian(at: 14, as: UInt16.self).map(Int.init)
        else {
            throw .formatMissing
        }
        // The extensible form hides the tag in the first two bytes of a GUID.
        var tag = outerTag
        if outerTag == Self.extensibleTag {
            guard let innerTag = chunk.littleEndian(at: 24, as: UInt16.self) else { throw .formatMissing }
            tag = Int(innerTag)
        }
        switch (tag, bits) {
        case (Self.pcmTag, 8), (Self.pcmTag, 16), (Self.pcmTag, 24), (Self.pcmTag, 32): encoding = .integer(bytes: bits / 8)
        case (Self.floatTag, 32): encoding = .float32
        default: throw .encoding(tag: tag, bitsPerSample: bits)
        }
        guard channels > 0, Self.sampleRates.contains(sampleRate), bytesPerFrame == channels * bits / 8 else {
            throw .inconsistentFormat(channels: channels, sampleRate: sampleRate, bytesPerFrame: bytesPerFrame)
        }
        self.channels = channels
        self.sampleRate = sampleRate
        self.bytesPerFrame = bytesPerFrame
    }
}

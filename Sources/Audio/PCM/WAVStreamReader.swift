/// Reads a WAV file that arrives in pieces, for example from a server that synthesizes speech. Accepts what `WAVFile.read` accepts.
///
/// The announced size of the samples ends the audio, unless it means "unknown"; what follows is ignored.
public struct WAVStreamReader: Sendable {
    /// Bytes before the samples.
    public static let headerBytesMax = 64 << 10

    private var format: WAVFormat?
    /// The header so far, then the bytes of an incomplete frame.
    private var rest: [UInt8] = []
    /// Bytes of samples that are still to come; nil if their number is unknown.
    private var bytesLeft: Int?

    public init() {}

    /// Hz; nil until the header is complete.
    public var sampleRate: Int? { format?.sampleRate }

    /// Whether announced samples are missing. At the end of the file this means that it is truncated.
    public var isIncomplete: Bool { format == nil || (bytesLeft ?? 0) > 0 }

    /// - Returns: the samples that `bytes` complete, mixed to mono.
    /// - Throws: `WAVError` if the header is malformed.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(WAVError) -> [Int16] {
        rest.append(contentsOf: bytes)
        if format == nil {
            guard let start = try readHeader() else { return [] }
            rest.removeFirst(start)
        }
        guard let format else { return [] }
        if let left = bytesLeft, rest.count > left { rest.removeLast(rest.count - left) }
        let whole = rest.count / format.bytesPerFrame * format.bytesPerFrame
        let sound = PCMBuffer(
            samples: WAVSamples.decode(rest[..<whole], format), sampleRate: format.sampleRate, channels: format.channels)
        rest.removeFirst(whole)
        bytesLeft = bytesLeft.map { $0 - whole }
        return sound.mixedToMono().samples
    }

    /// - Returns: where the samples begin; nil if the header is incomplete.
    private mutating func readHeader() throws(WAVError) -> Int? {
        guard rest.count >= 12 else { return nil }
        let header = rest[...]
        guard header.starts(withASCII: "RIFF") || header.starts(withASCII: "RF64"), header.starts(withASCII: "WAVE", at: 8) else {
            throw .notWAV
        }
        var found: WAVFormat?
        var next = 12
        while let announced = header.littleEndian(at: next + 4, as: UInt32.self).map(Int.init) {
            let start = next + 8
            if header.starts(withASCII: "data", at: next) {
                guard let found else { throw .formatMissing }
                format = found
                bytesLeft = WAVChunks.isUnknown(size: announced) ? nil : announced
                return start
            }
            guard start + announced <= Self.headerBytesMax else { throw .dataMissing }
            guard start + announced <= header.count else { return nil }
            if header.starts(withASCII: "fmt ", at: next) { found = try WAVFormat(header[start..<(start + announced)]) }
            // Chunks are aligned to even offsets.
            next = start + announced + announced % 2
        }
        return nil
    }
}

/// Reads and writes WAV files in memory.
public enum WAVFile {
    /// Reads integer PCM of 8, 16, 24 and 32 bits and 32-bit float, plain or `WAVE_FORMAT_EXTENSIBLE`, with any number of channels.
    ///
    /// Sizes in the file are not trusted. Programs that write to a pipe do not know them and announce 0 or nearly 2 or 4 GiB; such data is read to
    /// the end. An incomplete last frame is dropped.
    ///
    /// - Parameter mono: mixes all channels into one.
    public static func read(_ bytes: [UInt8], mono: Bool = false) throws(WAVError) -> PCMBuffer {
        let chunks = try WAVChunks(of: bytes)
        let format = try WAVFormat(bytes[chunks.format])
        let sound = PCMBuffer(
            samples: WAVSamples.decode(bytes[chunks.data], format), sampleRate: format.sampleRate, channels: format.channels)
        return mono ? sound.mixedToMono() : sound
    }

    /// Encodes 16-bit PCM.
    public static func write(_ sound: PCMBuffer) throws(WAVError) -> [UInt8] {
        let headerBytes = 44
        let bytesPerFrame = 2 * sound.channels
        let (dataBytes, overflows) = sound.samples.count.multipliedReportingOverflow(by: 2)
        guard !overflows, let riffBytes = UInt32(exactly: dataBytes + headerBytes - 8) else {
            throw .tooLong(samples: sound.samples.count)
        }
        guard let channels = UInt16(exactly: sound.channels), let blockBytes = UInt16(exactly: bytesPerFrame),
            let sampleRate = UInt32(exactly: sound.sampleRate),
            let bytesPerSecond = UInt32(exactly: sound.sampleRate * bytesPerFrame)
        else {
            throw .inconsistentFormat(channels: sound.channels, sampleRate: sound.sampleRate, bytesPerFrame: bytesPerFrame)
        }

        var file: [UInt8] = []
        file.reserveCapacity(headerBytes + dataBytes)
        file.append(contentsOf: "RIFF".utf8)
        file.append(littleEndian: riffBytes)
        file.append(contentsOf: "WAVEfmt ".utf8)
        file.append(littleEndian: UInt32(16))
        file.append(littleEndian: UInt16(WAVFormat.pcmTag))
        file.append(littleEndian: channels)
        file.append(littleEndian: sampleRate)
        file.append(littleEndian: bytesPerSecond)
        file.append(littleEndian: blockBytes)
        file.append(littleEndian: UInt16(16))
        file.append(contentsOf: "data".utf8)
        file.append(littleEndian: UInt32(dataBytes))
        for sample in sound.samples { file.append(littleEndian: sample) }
        return file
    }
}

/// Locates the two relevant chunks of a RIFF file (Multimedia Programming Interface and Data Specifications 1.0).
struct WAVChunks {
    let format: Range<Int>
    let data: Range<Int>

    /// Data sizes from here on mean "unknown": programs that write to a pipe announce slightly less than 2 or 4 GiB.
    private static let leastUnknownSize = 0x7FFF_0000

    /// Whether an announced size of samples is a placeholder.
    static func isUnknown(size: Int) -> Bool { size == 0 || size >= leastUnknownSize }

    init(of bytes: [UInt8]) throws(WAVError) {
        let file = bytes[...]
        guard file.starts(withASCII: "RIFF") || file.starts(withASCII: "RF64"), file.starts(withASCII: "WAVE", at: 8) else {
            throw .notWAV
        }
        var format: Range<Int>?
        var next = 12
        while let announced = file.littleEndian(at: next + 4, as: UInt32.self).map(Int.init) {
            let start = next + 8
            let present = file.count - start
            if file.starts(withASCII: "data", at: next) {
                guard let format else { throw .formatMissing }
                let isUnknown = Self.isUnknown(size: announced)
                guard isUnknown || announced <= present else {
                    throw .truncated(chunk: "data", announced: announced, present: present)
                }
                self.format = format
                self.data = start..<(start + (isUnknown ? present : announced))
                return
            }
            guard announced <= present else {
                let name = String(decoding: file[next..<(next + 4)], as: UTF8.self)
                throw .truncated(chunk: name, announced: announced, present: present)
            }
            if file.starts(withASCII: "fmt ", at: next) { format = start..<(start + announced) }
            // Chunks are aligned to even offsets.
            next = start + announced + announced % 2
        }
        throw format == nil ? .formatMissing : .dataMissing
    }
}

/// The `fmt ` chunk (`WAVEFORMATEX`, `WAVEFORMATEXTENSIBLE`).
struct WAVFormat {
    enum Encoding {
        case integer(bytes: Int)
        case float32
    }

    static let pcmTag = 1
    private static let floatTag = 3
    private static let extensibleTag = 0xFFFE
    /// Rates outside this range indicate a damaged header.
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
        // The extensible format stores the tag in the first two bytes of a GUID.
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

/// Converts a data chunk to 16-bit samples.
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

    /// Left-justified in 32 bits, regardless of its width.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int32 {
        bytes.reduce(UInt32(0)) { $0 >> 8 | UInt32($1) << 24 }.asSigned
    }

    private static func rounded(_ sample: Int32) -> Int16 {
        Int16(clamping: (Int(sample) + 0x8000) >> 16)
    }

    /// Full scale is 1. Louder samples clip, and NaN becomes silence.
    private static func rounded(_ sample: Float) -> Int16 {
        if sample.isNaN { return 0 }
        return Int16(min(max((sample * 32_768).rounded(), -32_768), 32_767))
    }
}

extension UInt32 {
    fileprivate var asSigned: Int32 { Int32(bitPattern: self) }
}

/// Why a WAV file could not be read or written.
public enum WAVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not start with the header of a RIFF or RF64 file of type WAVE.
    case notWAV
    /// A chunk extends beyond the end of the file.
    case truncated(chunk: String, announced: Int, present: Int)
    /// No valid `fmt ` chunk precedes the samples.
    case formatMissing
    /// There is no `data` chunk.
    case dataMissing
    /// An encoding other than integer PCM of 8 to 32 bits or 32-bit float.
    case encoding(tag: Int, bitsPerSample: Int)
    /// Channel count, sample rate and block size are inconsistent.
    case inconsistentFormat(channels: Int, sampleRate: Int, bytesPerFrame: Int)
    /// Sizes in a WAV file have 32 bits.
    case tooLong(samples: Int)

    public var description: String {
        switch self {
        case .notWAV:
            "Not a WAV file: it does not start with RIFF…WAVE. Convert it first."
        case .truncated(let chunk, let announced, let present):
            "The WAV file is truncated: its '\(chunk)' chunk announces \(announced) bytes, but \(present) are present. Copy it again."
        case .formatMissing:
            "The WAV file has no valid 'fmt ' chunk before its samples; convert it again."
        case .dataMissing:
            "The WAV file has no 'data' chunk and therefore no audio; check how it was recorded."
        case .encoding(let tag, let bits):
            "The WAV file's encoding (format \(tag), \(bits) bits) is not supported; convert it to 16-bit PCM."
        case .inconsistentFormat(let channels, let rate, let bytes):
            "The WAV file's header contradicts itself (\(channels) channels, \(rate) Hz, \(bytes) bytes a frame); convert it again."
        case .tooLong(let samples):
            "\(samples) samples do not fit into a WAV file; split them into several."
        }
    }
}

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

public import Audio

/// The identification header of an Ogg Opus file (RFC 7845 section 5.1), for mono and stereo (mapping family 0).
public struct OpusHead: Hashable, Sendable {
    /// 1 or 2.
    public var channels: Int
    /// The encoder's delay in 48 kHz ticks, which players skip, 0 to 65,535.
    public var preSkip: Int
    /// Sample rate of the original recording in Hz; 0 if unknown. Informational: Opus plays at 48 kHz.
    public var inputSampleRate: Int
    /// Gain that players apply, in 1/256 dB.
    public var outputGain: Int16

    public init(channels: Int = 1, preSkip: Int = 312, inputSampleRate: Int = 48_000, outputGain: Int16 = 0) {
        self.channels = channels
        self.preSkip = preSkip
        self.inputSampleRate = inputSampleRate
        self.outputGain = outputGain
    }

    static let magic: StaticString = "OpusHead"

    init(_ packet: [UInt8]) throws(OggOpusError) {
        let bytes = packet[...]
        guard bytes.starts(withASCII: Self.magic) else { throw .notOggOpus }
        guard let version: UInt8 = bytes.littleEndian(at: 8), let channels: UInt8 = bytes.littleEndian(at: 9),
            let preSkip: UInt16 = bytes.littleEndian(at: 10), let rate: UInt32 = bytes.littleEndian(at: 12),
            let gain: Int16 = bytes.littleEndian(at: 16), let family: UInt8 = bytes.littleEndian(at: 18)
        else {
            throw .header("OpusHead is shorter than 19 bytes")
        }
        // The upper four bits are the major version; minor versions only append fields.
        guard version >> 4 == 0 else { throw .header("OpusHead has unknown version \(version)") }
        guard family == 0 else { throw .header("channel mapping family \(family) is not supported, only 0 (mono and stereo)") }
        guard channels == 1 || channels == 2 else { throw .header("it has \(channels) channels in mapping family 0") }
        self.init(channels: Int(channels), preSkip: Int(preSkip), inputSampleRate: Int(rate), outputGain: gain)
    }

    func packet() throws(OggOpusError) -> [UInt8] {
        guard (1...2).contains(channels) else { throw .range("channels", channels, allowed: 1...2) }
        guard let preSkip = UInt16(exactly: preSkip) else { throw .range("preSkip", preSkip, allowed: 0...65_535) }
        guard let rate = UInt32(exactly: inputSampleRate) else {
            throw .range("inputSampleRate", inputSampleRate, allowed: 0...Int(UInt32.max))
        }
        var packet = Array(Self.magic.description.utf8)
        packet.append(1)
        packet.append(UInt8(channels))
        packet.append(littleEndian: preSkip)
        packet.append(littleEndian: rate)
        packet.append(littleEndian: outputGain)
        packet.append(0)
        return packet
    }
}

/// The comment header of an Ogg Opus file (RFC 7845 section 5.2): the vendor and `NAME=value` comments.
public struct OpusTags: Hashable, Sendable {
    public var vendor: String
    /// Each is `NAME=value`, with case-insensitive ASCII names.
    public var comments: [String]

    public init(vendor: String = "patchbay", comments: [String] = []) {
        self.vendor = vendor
        self.comments = comments
    }

    static let magic: StaticString = "OpusTags"

    /// Lengths are checked against the packet before anything is allocated for them.
    init(_ packet: [UInt8]) throws(OggOpusError) {
        var rest = packet[...]
        guard rest.starts(withASCII: Self.magic) else { throw .header("OpusTags does not follow OpusHead") }
        rest = rest.dropFirst(8)
        vendor = try Self.takeText(from: &rest)
        comments = []
        let count: UInt32 = try Self.takeNumber(from: &rest)
        for _ in 0..<count { comments.append(try Self.takeText(from: &rest)) }
    }

    func packet() -> [UInt8] {
        var packet = Array(Self.magic.description.utf8)
        packet.append(littleEndian: UInt32(vendor.utf8.count))
        packet.append(contentsOf: vendor.utf8)
        packet.append(littleEndian: UInt32(comments.count))
        for comment in comments {
            packet.append(littleEndian: UInt32(comment.utf8.count))
            packet.append(contentsOf: comment.utf8)
        }
        return packet
    }

    private static func takeNumber(from rest: inout ArraySlice<UInt8>) throws(OggOpusError) -> UInt32 {
        guard let number: UInt32 = rest.littleEndian(at: 0) else { throw .header("OpusTags is truncated") }
        rest = rest.dropFirst(4)
        return number
    }

    private static func takeText(from rest: inout ArraySlice<UInt8>) throws(OggOpusError) -> String {
        let length = Int(try takeNumber(from: &rest))
        guard length <= rest.count else { throw .header("OpusTags is truncated") }
        defer { rest = rest.dropFirst(length) }
        return String(decoding: rest.prefix(length), as: UTF8.self)
    }
}

/// Why an Ogg Opus file could not be read or written.
public enum OggOpusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No Ogg page with an Opus identification header was found.
    case notOggOpus
    /// The identification or comment header violates RFC 7845 section 5.
    case header(String)
    /// The file ends within its headers.
    case truncated
    /// The decoded audio would exceed the caller's limit.
    case tooLong(limit: Duration)
    /// A packet to be written is not an Opus packet.
    case packet(OpusPacket.Fault)
    /// A gap, trim or header field to be written is out of range.
    case range(String, Int, allowed: ClosedRange<Int>)
    /// libopus could not create a decoder.
    case decoder(OpusError)
    /// libogg ran out of memory.
    case outOfMemory

    public var description: String {
        switch self {
        case .notOggOpus:
            "Not an Ogg Opus file: no OpusHead was found. Convert it first."
        case .header(let reason):
            "The Ogg Opus file's header cannot be used: \(reason). Convert it again."
        case .truncated:
            "The Ogg Opus file ends inside its headers. Copy it again."
        case .tooLong(let limit):
            "The Ogg Opus file contains more than \(limit) of audio; raise the limit, or read it packet by packet."
        case .packet(let fault):
            "Cannot write a packet that is not Opus: \(fault)"
        case .range(let name, let value, let allowed):
            "\(name) is \(value); choose \(allowed.lowerBound) to \(allowed.upperBound)."
        case .decoder(let error):
            "Cannot create a decoder for the Ogg Opus file: \(error)"
        case .outOfMemory:
            "Out of memory for an Ogg page; free some and start again."
        }
    }
}

/// The identification header of an Ogg Opus file (RFC 7845 section 5.1), for mono and stereo (mapping family 0).
public struct OpusHead: Hashable, Sendable {
    /// 1 or 2.
    public var channels: Int
    /// 48 kHz ticks at the beginning that are the encoder's delay and are not played, 0 to 65,535.
    public var preSkip: Int
    /// Hz of the recording before it was encoded; 0 if unknown. Only of interest to people: Opus plays at 48 kHz.
    public var inputSampleRate: Int
    /// What a player adds to the volume, in 1/256 dB.
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
        // The upper four bits are the major version; minor ones only add to the end.
        guard version >> 4 == 0 else { throw .header("OpusHead has version \(version), which is unknown") }
        guard family == 0 else { throw .header("channel mapping family \(family) is not read here, only 0 (mono and stereo)") }
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

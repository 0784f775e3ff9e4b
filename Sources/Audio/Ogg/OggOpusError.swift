/// Why bytes could not be read as an Ogg Opus file, or a packet not be written to one.
public enum OggOpusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No Ogg page with an Opus identification header was found.
    case notOggOpus
    /// The identification or comment header breaks RFC 7845 section 5.
    case header(String)
    /// The file ends before the headers do.
    case truncated
    /// Decoded, the sound would be longer than the caller allows.
    case tooLong(limit: Duration)
    /// A packet to be written is no Opus packet.
    case packet(OpusPacket.Fault)
    /// A gap, trim or header field to be written is outside its range.
    case range(String, Int, allowed: ClosedRange<Int>)
    /// libopus refused to make a decoder.
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
            "The Ogg Opus file holds more than \(limit) of sound; allow more, or read it packet by packet."
        case .packet(let fault):
            "Cannot write what is not an Opus packet: \(fault)"
        case .range(let name, let value, let allowed):
            "\(name) is \(value); choose \(allowed.lowerBound) to \(allowed.upperBound)."
        case .decoder(let error):
            "No decoder for the Ogg Opus file: \(error)"
        case .outOfMemory:
            "No memory for an Ogg page; free some and begin again."
        }
    }
}

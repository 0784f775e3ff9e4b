/// The comment header of an Ogg Opus file (RFC 7845 section 5.2): who wrote it, and `NAME=value` comments.
public struct OpusTags: Hashable, Sendable {
    public var vendor: String
    /// Each `NAME=value`, names in ASCII and without regard to case.
    public var comments: [String]

    public init(vendor: String = "patchbay", comments: [String] = []) {
        self.vendor = vendor
        self.comments = comments
    }

    static let magic: StaticString = "OpusTags"

    /// Lengths in the packet are checked against what is there before anything is set aside for them.
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
        guard let number: UInt32 = rest.littleEndian(at: 0) else { throw .header("OpusTags is cut off") }
        rest = rest.dropFirst(4)
        return number
    }

    private static func takeText(from rest: inout ArraySlice<UInt8>) throws(OggOpusError) -> String {
        let length = Int(try takeNumber(from: &rest))
        guard length <= rest.count else { throw .header("OpusTags is cut off") }
        defer { rest = rest.dropFirst(length) }
        return String(decoding: rest.prefix(length), as: UTF8.self)
    }
}

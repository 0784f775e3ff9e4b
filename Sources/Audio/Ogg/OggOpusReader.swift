/// Reads an Ogg Opus file (RFC 7845) from memory, packet by packet.
///
/// Any bytes are safe to read. A file that is cut off gives what is whole; damaged pages (libogg checks each CRC) are left out and
/// reported as `followsHole`. Of several streams, one after another or side by side, the first Opus stream is read.
public struct OggOpusReader: ~Copyable {
    public struct Packet: Hashable, Sendable {
        public let bytes: [UInt8]
        /// The packet's whole duration in 48 kHz ticks.
        public let ticks: Int
        /// How many ticks at its end are padding and not played (end trimming, RFC 7845 section 4.4).
        public let trimmedTicks: Int
        /// The position after its last played sample, in 48 kHz ticks from the stream's beginning, pre-skip included.
        public let granule: Int64
        /// True if something before it is damaged or missing: how much tells its granule position.
        public let followsHole: Bool
    }

    public let head: OpusHead
    public let tags: OpusTags
    private var pages: OggPageReader
    /// Packets of the current page, last first.
    private var waiting: [Packet] = []
    private var granules = OggGranules()

    /// Reads the two headers.
    public init(_ bytes: [UInt8]) throws(OggOpusError) {
        var pages = OggPageReader(bytes)
        guard let first = try pages.next() else { throw .notOggOpus }
        guard let packet = first.packets.first else { throw .truncated }
        let head = try OpusHead(packet)

        // The comment header may cover several pages.
        var tagsPacket: [UInt8]?
        while tagsPacket == nil {
            guard let page = try pages.next() else { throw .truncated }
            tagsPacket = page.packets.first
        }
        let tags = try OpusTags(tagsPacket ?? [])
        self.head = head
        self.tags = tags
        self.pages = pages
    }

    /// The next packet, or nil at the end. Packets that break RFC 6716 are passed over, and the next one says `followsHole`.
    public mutating func next() throws(OggOpusError) -> Packet? {
        while waiting.isEmpty {
            guard let page = try pages.next() else { return nil }
            waiting = granules.place(page).reversed()
        }
        return waiting.popLast()
    }
}

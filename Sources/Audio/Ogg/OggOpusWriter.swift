/// Writes an Ogg Opus file (RFC 7845), packet by packet.
///
/// Every call returns the bytes that are to be appended to the file next, often none. They come in whole pages of at most
/// one second of sound, so what has been written is a playable file at any moment, even if the process is killed. It lacks the
/// last second then, and the end mark, which players do not miss.
///
///     var writer = try OggOpusWriter(OpusHead(preSkip: encoder.preSkip))
///     file.write(try writer.start())
///     file.write(try writer.append(packet))
///     file.write(try writer.finish())
///
/// A granule position may not jump: RFC 7845 section 4 forbids it, and players would close up the gap. So a pause is written as
/// packets without sound (`appendGap`), some 50 bytes a second with their pages.
public struct OggOpusWriter: ~Copyable {
    /// The most ticks of sound in a page, one second.
    public static let pageTicksLimit = 48_000
    /// The longest gap, 24 hours.
    public static let gapTicksLimit = 24 * 3_600 * 48_000

    private let head: OpusHead
    private let tags: OpusTags
    private var pages: OggPageWriter
    private var hasStarted = false
    /// The newest packet waits here, since the last one has to be marked as such.
    private var pending: (packet: [UInt8], ticks: Int)?
    private var previous = OpusTOC(byte: 1 << 3)
    private var pageTicks = 0
    /// 48 kHz ticks of all packets so far, pre-skip included.
    public private(set) var ticks: Int64 = 0

    /// - Parameter serial: the logical stream's number, which only matters where files are joined.
    public init(
        _ head: OpusHead = OpusHead(), tags: OpusTags = OpusTags(), serial: UInt32 = .random(in: .min ... .max)
    ) throws(OggOpusError) {
        self.head = head
        self.tags = tags
        self.pages = try OggPageWriter(serial: serial)
    }

    /// The two headers, each on a page of its own. Called by `append` and `finish` if you do not.
    public mutating func start() throws(OggOpusError) -> [UInt8] {
        if hasStarted { return [] }
        let headPacket = try head.packet()
        hasStarted = true
        try pages.add(headPacket, granule: 0)
        var bytes = pages.flush()
        try pages.add(tags.packet(), granule: 0)
        bytes += pages.flush()
        return bytes
    }

    /// Adds one Opus packet; its duration is read from it.
    public mutating func append(_ packet: [UInt8]) throws(OggOpusError) -> [UInt8] {
        let ticks: Int
        do { ticks = try OpusPacket(packet).ticks } catch { throw .packet(error) }
        var bytes = try start()
        bytes += try writePending()
        pending = (packet, ticks)
        previous = OpusTOC(byte: packet[0])
        self.ticks += Int64(ticks)
        return bytes
    }

    /// Adds a pause: lost packets, or silence that was not sent.
    ///
    /// - Parameter ticks: 48 kHz ticks, 0 to `gapTicksLimit`, rounded down to 2.5 ms (120 ticks).
    public mutating func appendGap(ticks: Int) throws(OggOpusError) -> [UInt8] {
        guard (0...Self.gapTicksLimit).contains(ticks) else {
            throw .range("The gap in ticks", ticks, allowed: 0...Self.gapTicksLimit)
        }
        var bytes: [UInt8] = []
        for packet in OpusGap.packets(ticks: ticks, after: previous) { bytes += try append(packet) }
        return bytes
    }

    /// Marks the end. A file without any packet gets its headers only.
    ///
    /// - Parameter trimmedTicks: 48 kHz ticks at the end of the last packet that are padding and not to be played.
    public consuming func finish(trimmedTicks: Int = 0) throws(OggOpusError) -> [UInt8] {
        let lastTicks = pending?.ticks ?? 0
        guard (0...lastTicks).contains(trimmedTicks) else {
            throw .range("The trim in ticks", trimmedTicks, allowed: 0...lastTicks)
        }
        var bytes = try start()
        if let (packet, packetTicks) = pending {
            bytes += makeRoom(for: packetTicks)
            try pages.add(packet, granule: ticks - Int64(trimmedTicks), endsStream: true)
            bytes += pages.flush()
        }
        return bytes
    }

    private mutating func writePending() throws(OggOpusError) -> [UInt8] {
        guard let (packet, packetTicks) = pending else { return [] }
        let bytes = makeRoom(for: packetTicks)
        try pages.add(packet, granule: ticks)
        return bytes
    }

    /// Closes the page if `packetTicks` more would make it too long.
    private mutating func makeRoom(for packetTicks: Int) -> [UInt8] {
        pageTicks += packetTicks
        if pageTicks <= Self.pageTicksLimit { return [] }
        pageTicks = packetTicks
        return pages.flush()
    }
}

internal import Audio

/// Writes an Ogg Opus file (RFC 7845), packet by packet.
///
/// Every call returns the bytes to append to the file, often none. They are whole pages of at most one second of audio, so the file is playable
/// at any moment, even if the process is killed: it then lacks the last second and the end mark, which players do not need.
///
///     var writer = try OggOpusWriter(OpusHead(preSkip: encoder.preSkip))
///     file.write(try writer.start())
///     file.write(try writer.append(packet))
///     file.write(try writer.finish())
///
/// Granule positions may not jump (RFC 7845 section 4), and players would close the gap. A pause is therefore written as packets without audio
/// (`appendGap`), about 50 bytes per second including pages.
public struct OggOpusWriter: ~Copyable {
    /// Maximum audio per page in ticks: one second.
    public static let pageTicksLimit = 48_000
    /// The longest gap, 24 hours.
    public static let gapTicksLimit = 24 * 3_600 * 48_000

    private let head: OpusHead
    private let tags: OpusTags
    private var pages: OggPageWriter
    private var hasStarted = false
    /// The newest packet, held back because the last one must be marked.
    private var pending: (packet: [UInt8], ticks: Int)?
    private var previous = OpusTOC(byte: 1 << 3)
    private var pageTicks = 0
    /// Total duration in 48 kHz ticks, including pre-skip.
    public private(set) var ticks: Int64 = 0

    /// - Parameter serial: the logical stream's number, which only matters when files are concatenated.
    public init(
        _ head: OpusHead = OpusHead(), tags: OpusTags = OpusTags(), serial: UInt32 = .random(in: .min ... .max)
    ) throws(OggOpusError) {
        self.head = head
        self.tags = tags
        self.pages = try OggPageWriter(serial: serial)
    }

    /// Returns the two headers, each on its own page. `append` and `finish` call it if necessary.
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

    /// Adds an Opus packet; its duration is read from it.
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

    /// Marks the end. Without packets, the file consists of its headers.
    ///
    /// - Parameter trimmedTicks: padding at the end of the last packet that is not played, in 48 kHz ticks.
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

    /// Closes the page if `packetTicks` more would exceed its limit.
    private mutating func makeRoom(for packetTicks: Int) -> [UInt8] {
        pageTicks += packetTicks
        if pageTicks <= Self.pageTicksLimit { return [] }
        pageTicks = packetTicks
        return pages.flush()
    }
}

/// Fills a pause with packets without audio (RFC 7845 section 4.1).
///
/// Their frames have zero bytes, which makes the decoder conceal a loss: it fades out, or continues comfort noise after DTX. 120 ms of pause cost
/// two bytes, and every player keeps the timing.
enum OpusGap {
    /// Packets with a total duration of `ticks`, rounded down to 2.5 ms, in the coding of the previous packet.
    static func packets(ticks: Int, after previous: OpusTOC) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var left = ticks
        for toc in codings(after: previous) {
            let framesPerPacket = OpusPacket.ticksLimit / toc.ticksPerFrame
            while left >= toc.ticksPerFrame {
                let frames = min(left / toc.ticksPerFrame, framesPerPacket)
                // Code 3: the second byte is the number of frames, all of length zero.
                packets.append(frames == 1 ? [toc.byte] : [toc.byte | 0b11, UInt8(frames)])
                left -= frames * toc.ticksPerFrame
            }
        }
        return packets
    }

    /// Longest frames first: 20 and 10 ms in the previous packet's mode, so that the decoder does not switch, then CELT's 5 and 2.5 ms, which no other
    /// mode has.
    private static func codings(after previous: OpusTOC) -> [OpusTOC] {
        let stereo = previous.byte & 0b100
        let configuration = previous.byte >> 3
        let celt: UInt8 =
            switch previous.bandwidth {
            case .narrow: 16
            case .medium, .wide: 20
            case .superWide: 24
            case .full: 28
            }
        let (twenty, ten): (UInt8, UInt8) =
            switch previous.mode {
            case .silk: (configuration & ~0b11 | 1, configuration & ~0b11)
            case .hybrid: (configuration & ~0b1 | 1, configuration & ~0b1)
            case .celt: (celt + 3, celt + 2)
            }
        return [twenty, ten, celt + 1, celt].map { OpusTOC(byte: $0 << 3 | stereo) }
    }
}

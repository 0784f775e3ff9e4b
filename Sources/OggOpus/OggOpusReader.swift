public import Audio
internal import Foundation

/// Reads an Ogg Opus file (RFC 7845) from memory, packet by packet.
///
/// Safe for any input. Truncated files yield their complete packets; damaged pages (libogg checks each CRC) are skipped and reported as
/// `followsHole`. Of several concatenated or multiplexed streams, the first Opus stream is read.
public struct OggOpusReader: ~Copyable {
    public struct Packet: Hashable, Sendable {
        public let bytes: [UInt8]
        /// The packet's total duration in 48 kHz ticks.
        public let ticks: Int
        /// Padding ticks at its end that are not played (end trimming, RFC 7845 section 4.4).
        public let trimmedTicks: Int
        /// The position after its last played sample, in 48 kHz ticks from the start of the stream, including pre-skip.
        public let granule: Int64
        /// Whether data before it is damaged or missing; the granule position shows how much.
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

        // The comment header may span several pages.
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

    /// The next packet, or nil at the end. Packets that violate RFC 6716 are skipped, and the next one is marked `followsHole`.
    public mutating func next() throws(OggOpusError) -> Packet? {
        while waiting.isEmpty {
            guard let page = try pages.next() else { return nil }
            waiting = granules.positioned(page).reversed()
        }
        return waiting.popLast()
    }
}

extension OggOpusReader {
    /// Default limit of `decodePCM`: four hours, 1.4 GB of mono.
    public static let decodedLimit = Duration.seconds(4 * 3_600)

    /// Decodes the whole file to 48 kHz, without pre-skip and padding, with the header's gain. Holes and damaged packets are concealed for up to one
    /// second each; longer ones are shortened.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2; nil uses the header's count.
    ///   - limit: maximum duration. Two bytes can encode 120 ms, so a small file may be very long.
    /// - Throws: `.tooLong`, or what reading the headers throws.
    public static func decodePCM(
        _ bytes: [UInt8], channels: Int? = nil, limit: Duration = decodedLimit
    ) throws(OggOpusError) -> PCMBuffer {
        var reader = try OggOpusReader(bytes)
        var sound = try OggOpusSound(reader.head, channels: channels ?? reader.head.channels)
        while let packet = try reader.next() {
            sound.append(packet)
            if sound.duration > limit { throw .tooLong(limit: limit) }
        }
        return sound.trimmed()
    }
}

/// The decoded audio of a file.
private struct OggOpusSound: ~Copyable {
    private static let concealedTicksLimit: Int64 = 48_000
    private static let concealedTicksAtOnce = 960

    private var decoder: OpusDecoder
    private let preSkip: Int
    /// The header's output gain as a factor (RFC 7845 section 5.1).
    private let gain: Double
    private let channels: Int
    private var samples: [Int16] = []
    private var position: Int64?

    init(_ head: OpusHead, channels: Int) throws(OggOpusError) {
        do { decoder = try OpusDecoder(channels: channels) } catch { throw .decoder(error) }
        preSkip = head.preSkip
        gain = pow(10, Double(head.outputGain) / (20 * 256))
        self.channels = channels
    }

    var duration: Duration { .milliseconds(max(samples.count / channels - preSkip, 0) / 48) }

    mutating func append(_ packet: OggOpusReader.Packet) {
        let start = packet.granule + Int64(packet.trimmedTicks - packet.ticks)
        if packet.followsHole { conceal(min(start - (position ?? start), Self.concealedTicksLimit)) }
        let before = samples.count
        do {
            _ = try decoder.decode(unsafe packet.bytes.span.bytes, appendingTo: &samples)
        } catch {
            samples.removeLast(samples.count - before)
            conceal(Int64(packet.ticks))
        }
        samples.removeLast(min(packet.trimmedTicks * channels, samples.count - before))
        position = packet.granule
    }

    private mutating func conceal(_ ticks: Int64) {
        var left = Int(ticks)
        while left >= 120 {
            let piece = min(left, Self.concealedTicksAtOnce) / 120 * 120
            // Silence if concealment fails, to keep the timing.
            do { try decoder.conceal(samples: piece, appendingTo: &samples) } catch {
                samples.append(contentsOf: repeatElement(0, count: piece * channels))
            }
            left -= piece
        }
    }

    consuming func trimmed() -> PCMBuffer {
        let sound = samples.dropFirst(preSkip * channels)
        let amplified = gain == 1 ? Array(sound) : sound.map { Int16(clamping: Int((Double($0) * gain).rounded())) }
        return PCMBuffer(samples: amplified, sampleRate: 48_000, channels: channels)
    }
}

/// Assigns granule positions to the packets of a page, which only states that of its last one (RFC 7845 section 4).
struct OggGranules {
    /// The position after the previous packet; nil until the first page with audio.
    private var position: Int64?
    private var followsHole = false

    mutating func positioned(_ page: OggPageReader.Page) -> [OggOpusReader.Packet] {
        var sounds: [(bytes: [UInt8], ticks: Int)] = []
        followsHole = followsHole || page.followsHole
        for bytes in page.packets {
            if let packet = try? OpusPacket(bytes) { sounds.append((bytes, packet.ticks)) } else { followsHole = true }
        }
        if sounds.isEmpty { return [] }

        let sum = sounds.reduce(Int64(0)) { $0 + Int64($1.ticks) }
        let end = page.granule
        var next = start(of: sum, end: end, endsStream: page.endsStream)
        var packets: [OggOpusReader.Packet] = []
        for sound in sounds {
            let whole = next + Int64(sound.ticks)
            // Only the last page may state less than the sum of its packets: the difference is padding.
            let trimmed = page.endsStream ? min(max(whole - (end ?? whole), 0), Int64(sound.ticks)) : 0
            packets.append(
                .init(
                    bytes: sound.bytes, ticks: sound.ticks, trimmedTicks: Int(trimmed), granule: whole - trimmed,
                    followsHole: followsHole))
            followsHole = false
            next = whole
        }
        position = next
        return packets
    }

    /// The start of a page's first packet, if its packets last `sum` and the page states that they end at `end`.
    private func start(of sum: Int64, end: Int64?, endsStream: Bool) -> Int64 {
        // Positions never go back, whatever the page states.
        let earliest = position ?? 0
        guard let end else { return earliest }
        if endsStream, position != nil, end - sum < earliest { return earliest }
        return max(end - sum, earliest)
    }
}

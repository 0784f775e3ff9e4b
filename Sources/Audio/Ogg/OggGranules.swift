/// Gives every packet of a page its granule position; the page itself says only the last one's (RFC 7845 section 4).
struct OggGranules {
    /// The position after the packet before; nil until the first page with sound.
    private var position: Int64?
    private var followsHole = false

    mutating func place(_ page: OggPageReader.Page) -> [OggOpusReader.Packet] {
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
            // Only the last page may say less than its packets hold: the rest is padding.
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

    /// Where a page's first packet begins, if its packets last `sum` and the page says that they end at `end`.
    private func start(of sum: Int64, end: Int64?, endsStream: Bool) -> Int64 {
        // Positions never go back, whatever a page says: what is played after must not come before.
        let earliest = position ?? 0
        guard let end else { return earliest }
        if endsStream, position != nil, end - sum < earliest { return earliest }
        return max(end - sum, earliest)
    }
}

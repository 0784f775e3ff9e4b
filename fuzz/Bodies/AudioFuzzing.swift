private import Audio
private import OggOpus
private import Wire

/// Audio files, packets and frame arrivals.
enum AudioFuzzing {
    /// The first byte selects the parser, the rest is its input.
    static func read(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let input = Array(bytes.dropFirst())
        switch choice % 5 {
        case 0: readPacket(input)
        case 1: readWAV(input)
        case 2: readOgg(input)
        case 3: decode(input)
        default: play(input)
        }
    }

    private static func readPacket(_ bytes: [UInt8]) {
        guard let packet = try? OpusPacket(bytes) else { return }
        precondition((120...OpusPacket.ticksLimit).contains(packet.ticks), "a packet lasts 2.5 to 120 ms")
    }

    private static func readWAV(_ bytes: [UInt8]) {
        guard let sound = try? WAVFile.read(bytes, mono: bytes.count % 2 == 0) else { return }
        precondition(sound.samples.count <= bytes.count, "more samples than bytes")
    }

    private static func readOgg(_ bytes: [UInt8]) {
        guard var reader = try? OggOpusReader(bytes) else { return }
        var position: Int64 = 0
        while let packet = try? reader.next() {
            precondition(packet.granule >= position, "a granule position went back")
            position = packet.granule
        }
        _ = try? OggOpusReader.decodePCM(bytes, limit: .seconds(2))
    }

    /// A sequence of packets of up to 31 bytes, some of them lost.
    private static func decode(_ bytes: [UInt8]) {
        guard var decoder = try? OpusDecoder(channels: 2) else { return }
        var rest = bytes[...]
        while let first = rest.popFirst() {
            let packet = Array(rest.prefix(Int(first & 31)))
            rest = rest.dropFirst(packet.count)
            switch first >> 5 {
            case 0: _ = try? decoder.conceal(samples: 960)
            case 1: _ = try? decoder.recover(samples: 960, from: packet)
            default: _ = try? decoder.decode(packet)
            }
        }
    }

    /// Each eight bytes are one arriving frame, or one request for output.
    private static func play(_ bytes: [UInt8]) {
        var buffer = JitterBuffer<Int>()
        var now = Instant(nanoseconds: 0)
        var rest = bytes[...]
        while rest.count >= 8 {
            let word = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            now = now + .milliseconds(Int64(word & 0x7F))
            if word & 0x80 == 0 {
                _ = buffer.next(at: now)
            } else {
                buffer.insert(
                    JitterFrame(
                        sequence: SequenceNumber(UInt16(truncatingIfNeeded: word >> 8)),
                        timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: word >> 24)),
                        ticks: Int(word >> 56 & 0x3F) * 120, isVoice: word >> 62 & 1 == 1, startsTalkspurt: word >> 63 == 1,
                        payload: 0),
                    at: now)
            }
            precondition(buffer.bufferedTicks <= 48 * 720, "the buffer exceeds its limit by more than a frame")
        }
    }
}

extension OggOpusReader {
    /// The longest sound that `decodePCM` makes if not told otherwise: four hours, 1.4 GB of mono.
    public static let decodedLimit = Duration.seconds(4 * 3_600)

    /// Decodes the whole file to 48 kHz, without pre-skip and padding, with the header's gain. Holes and damaged packets are concealed, up to
    /// one second each; what they last beyond that is left out.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2; nil takes as many as the header says.
    ///   - limit: the longest sound to make. Two bytes can stand for 120 ms, so a small file may be very long.
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

/// The PCM of a file as it grows.
private struct OggOpusSound: ~Copyable {
    private static let concealedTicksLimit: Int64 = 48_000
    private static let concealedTicksAtOnce = 960

    private var decoder: OpusDecoder
    private let preSkip: Int
    private let channels: Int
    private var samples: [Int16] = []
    private var position: Int64?

    init(_ head: OpusHead, channels: Int) throws(OggOpusError) {
        do { decoder = try OpusDecoder(channels: channels) } catch { throw .decoder(error) }
        decoder.setGain(head.outputGain)
        preSkip = head.preSkip
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
            // A decoder that cannot conceal leaves silence: the time has to stay right.
            do { try decoder.conceal(samples: piece, appendingTo: &samples) } catch {
                samples.append(contentsOf: repeatElement(0, count: piece * channels))
            }
            left -= piece
        }
    }

    consuming func trimmed() -> PCMBuffer {
        PCMBuffer(samples: Array(samples.dropFirst(preSkip * channels)), sampleRate: 48_000, channels: channels)
    }
}

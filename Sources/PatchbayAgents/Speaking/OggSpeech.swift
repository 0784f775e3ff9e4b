internal import Audio
public import OggOpus
public import PatchbayClient
internal import Wire

/// The packets of an Ogg Opus file as frames, unchanged: the first one starts a talkspurt, the last one ends it.
///
/// Packets are decoded only to measure their level. Gaps in the file become silence.
public struct OggSpeech: ~Copyable {
    private var reader: OggOpusReader
    private var decoder: OpusDecoder
    private var detector = TalkspurtDetector()
    /// The next packet, read ahead because only the last one carries 0x40.
    private var upcoming: OggOpusReader.Packet?
    /// The end of the last packet.
    private var position: Int64?

    /// The file's header: channels, pre-skip, gain.
    public let head: OpusHead
    /// The duration of the first packet in 48 kHz ticks; 0 if there is none.
    public let ticksPerPacket: Int

    /// - Parameter file: a complete Ogg Opus file.
    /// - Throws: `OggOpusError`.
    public init(_ file: [UInt8]) throws(OggOpusError) {
        var reader = try OggOpusReader(file)
        let first = try reader.next()
        let decoder = try Self.makeDecoder()
        self.head = reader.head
        self.reader = reader
        self.decoder = decoder
        self.upcoming = first
        self.ticksPerPacket = first?.ticks ?? 0
    }

    /// The next packet; nil at the end.
    ///
    /// - Throws: `OggOpusError`; `.range` for a packet of more than 1,488 bytes, which does not fit into a frame.
    public mutating func next() throws(OggOpusError) -> SpokenFrame? {
        guard let packet = upcoming else { return nil }
        guard packet.bytes.count <= ProtocolLimits.opusPacketBytesMax else {
            throw .range("The packet's length", packet.bytes.count, allowed: 1...ProtocolLimits.opusPacketBytesMax)
        }
        upcoming = try reader.next()
        let start = packet.granule + Int64(packet.trimmedTicks - packet.ticks)
        let gap = packet.followsHole ? max(Int(start - (position ?? start)), 0) : 0
        var flags: FrameFlags = position == nil ? .talkspurtStart : []
        if upcoming == nil { flags.insert(.talkspurtEnd) }
        position = start + Int64(packet.ticks)
        let activity = detector.classify((try? decoder.decode(packet.bytes)) ?? [])
        return SpokenFrame(
            packet: packet.bytes, ticks: packet.ticks, silenceBefore: gap,
            level: AudioLevelByte(voice: activity.isVoice, level: Int(activity.level.value)), flags: flags)
    }

    private static func makeDecoder() throws(OggOpusError) -> OpusDecoder {
        do throws(OpusError) { return try OpusDecoder() } catch { throw .decoder(error) }
    }
}

extension RoomConnection {
    /// Joins a room, plays an Ogg Opus file on a track of its own in real time, and leaves.
    ///
    /// - Parameter started: called when the track is published.
    /// - Throws: `OggOpusError`, `ConnectError`, `RequestFailure`, `CancellationError`.
    package static func play(
        _ file: [UInt8], url: String, token: String, options: RoomOptions, started: @Sendable () -> Void = {}
    ) async throws {
        var speech = try OggSpeech(file)
        let channels = speech.head.channels
        let room = try await connect(url: url, token: token, options: options)
        do {
            let track = try await room.publish(name: "clip", source: .assistant, channels: channels)
            started()
            try await track.speak(frames: { try speech.next() })
        } catch {
            await room.leave()
            throw error
        }
        await room.leave()
    }
}

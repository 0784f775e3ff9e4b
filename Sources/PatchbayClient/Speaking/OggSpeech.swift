public import Audio
internal import Wire

/// The packets of an Ogg Opus file as frames to be sent, bit for bit: the first one starts a talkspurt, the last one ends it.
///
/// Each packet is decoded too, but only to learn how loud it is. Holes in the file become silence.
public struct OggSpeech: ~Copyable {
    private var reader: OggOpusReader
    private var decoder: OpusDecoder
    private var detector = TalkspurtDetector()
    /// What comes next: only the last one carries 0x40.
    private var waiting: OggOpusReader.Packet?
    /// Where the last one ended.
    private var position: Int64?

    /// What the file's header says: channels, pre-skip, gain.
    public let head: OpusHead
    /// How long the first packet lasts, in 48 kHz ticks; 0 if there is none.
    public let ticksPerPacket: Int

    /// - Parameter file: a whole Ogg Opus file.
    /// - Throws: `OggOpusError`.
    public init(_ file: [UInt8]) throws(OggOpusError) {
        var reader = try OggOpusReader(file)
        let first = try reader.next()
        let decoder = try Self.makeDecoder()
        self.head = reader.head
        self.reader = reader
        self.decoder = decoder
        self.waiting = first
        self.ticksPerPacket = first?.ticks ?? 0
    }

    /// The next packet; nil at the end.
    ///
    /// - Throws: `OggOpusError`; `.range` for a packet of more than 1,488 bytes, which no frame can carry.
    public mutating func next() throws(OggOpusError) -> SpokenFrame? {
        guard let packet = waiting else { return nil }
        guard packet.bytes.count <= ProtocolLimits.opusPacketBytesMax else {
            throw .range("The packet's length", packet.bytes.count, allowed: 1...ProtocolLimits.opusPacketBytesMax)
        }
        waiting = try reader.next()
        let start = packet.granule + Int64(packet.trimmedTicks - packet.ticks)
        let hole = packet.followsHole ? max(Int(start - (position ?? start)), 0) : 0
        var flags: FrameFlags = position == nil ? .talkspurtStart : []
        if waiting == nil { flags.insert(.talkspurtEnd) }
        position = start + Int64(packet.ticks)
        let activity = detector.classify((try? decoder.decode(packet.bytes)) ?? [])
        return SpokenFrame(
            packet: packet.bytes, ticks: packet.ticks, silenceBefore: hole,
            level: AudioLevelByte(voice: activity.isVoice, level: Int(activity.level.value)), flags: flags)
    }

    private static func makeDecoder() throws(OggOpusError) -> OpusDecoder {
        do throws(OpusError) { return try OpusDecoder() } catch { throw .decoder(error) }
    }
}

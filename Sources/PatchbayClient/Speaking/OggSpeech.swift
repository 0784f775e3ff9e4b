public import Audio
internal import Wire

/// The packets of an Ogg Opus file as frames to be sent, bit for bit: the first one starts a talkspurt, the last one ends it.
///
/// Each packet is decoded too, but only to learn how loud it is. Holes in the file become silence.
public struct OggSpeech: ~Copyable {
    private var reader: OggOpusReader
    private var decoder: OpusDecoder
    private var detector: TalkspurtDetector
    private var held: SpokenFrame?
    private var position: Int64?
    private var isFirst = true

    /// What the file's header says: channels, pre-skip, gain.
    public let head: OpusHead
    /// How long the first packet lasts, in 48 kHz ticks; 0 if there is none.
    public private(set) var ticksPerPacket = 0

    /// - Parameter file: a whole Ogg Opus file.
    /// - Throws: `OggOpusError`; `.packet` or `.range` for packets that no frame can carry.
    public init(_ file: [UInt8]) throws(OggOpusError) {
        reader = try OggOpusReader(file)
        head = reader.head
        do { decoder = try OpusDecoder() } catch { throw .decoder(error) }
        detector = TalkspurtDetector()
        held = try read()
        ticksPerPacket = held?.ticks ?? 0
    }

    /// Nil at the end.
    public mutating func next() throws(OggOpusError) -> SpokenFrame? {
        guard var frame = held else { return nil }
        held = try read()
        if held == nil { frame.flags.insert(.talkspurtEnd) }
        return frame
    }

    private mutating func read() throws(OggOpusError) -> SpokenFrame? {
        guard let packet = try reader.next() else { return nil }
        guard packet.bytes.count <= ProtocolLimits.opusPacketBytesMax else {
            throw .range("The packet's length", packet.bytes.count, allowed: 1...ProtocolLimits.opusPacketBytesMax)
        }
        let start = packet.granule + Int64(packet.trimmedTicks - packet.ticks)
        let hole = packet.followsHole ? max(Int(start - (position ?? start)), 0) : 0
        position = start + Int64(packet.ticks)
        let activity = detector.classify((try? decoder.decode(packet.bytes)) ?? [])
        defer { isFirst = false }
        return SpokenFrame(
            packet: packet.bytes, ticks: packet.ticks, silenceBefore: hole,
            level: AudioLevelByte(voice: activity.isVoice, level: Int(activity.level.value)), flags: isFirst ? .talkspurtStart : [])
    }
}

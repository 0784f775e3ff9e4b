public import Audio
internal import Wire

/// Makes frames of 20 ms from 48 kHz PCM: Opus packets, levels, the voice bit, and the flags of talkspurts and DTX.
///
/// A frame is held back until the next one is there, because only the last of a talkspurt says so. No clock and no socket; belongs
/// to one track. With DTX, the first packet of a silence is given out with 0x20, the rest of it becomes `silenceBefore` of the
/// next.
public struct SpeechEncoder: ~Copyable {
    public static let sampleRate = 48_000
    /// 20 ms.
    public static let samplesPerFrame = 960

    private var encoder: OpusEncoder
    private var detector: TalkspurtDetector
    private let settings: SpeechSettings
    /// PCM that is no whole frame yet.
    private var rest: [Int16] = []
    private var held: SpokenFrame?
    private var isInDTX = false
    private var silence = 0

    public init(_ settings: SpeechSettings = SpeechSettings()) throws(OpusError) {
        self.settings = settings
        encoder = try OpusEncoder(
            channels: settings.channels, bitsPerSecond: settings.bitsPerSecond, dtx: settings.dtx, inbandFEC: settings.inbandFEC,
            expectedLossPercent: settings.expectedLossPercent)
        detector = TalkspurtDetector(sampleRate: Self.sampleRate, channels: settings.channels)
    }

    /// 48 kHz ticks by which decoded sound lags behind what went in.
    public var preSkip: Int { encoder.preSkip }

    /// Takes the next PCM, any amount of it, and gives the frames that are ready.
    public mutating func encode(_ pcm: [Int16]) throws(OpusError) -> [SpokenFrame] {
        rest += pcm
        let size = Self.samplesPerFrame * settings.channels
        var frames: [SpokenFrame] = []
        var start = 0
        while rest.count - start >= size {
            try encode(frame: rest[start..<start + size], into: &frames)
            start += size
        }
        rest.removeFirst(start)
        return frames
    }

    /// Gives what was held back; a last piece is filled up with silence. The last frame ends the talkspurt, if there is one.
    public mutating func finish() throws(OpusError) -> [SpokenFrame] {
        var frames: [SpokenFrame] = []
        if !rest.isEmpty {
            let missing = Self.samplesPerFrame * settings.channels - rest.count
            frames = try encode([Int16](repeating: 0, count: missing))
        }
        if var last = held {
            if detector.isInTalkspurt { last.flags.insert(.talkspurtEnd) }
            frames.append(last)
        }
        held = nil
        detector = TalkspurtDetector(sampleRate: Self.sampleRate, channels: settings.channels)
        return frames
    }

    private mutating func encode(frame pcm: ArraySlice<Int16>, into frames: inout [SpokenFrame]) throws(OpusError) {
        let pcm = Array(pcm)
        let packet = try encoder.encode(pcm)
        let activity = detector.classify(pcm)
        let isDTX = settings.dtx && OpusPacket.isDTX(byteCount: packet.count)
        defer { isInDTX = isDTX }
        if isDTX, isInDTX, !activity.endsTalkspurt {
            silence += Self.samplesPerFrame
            return
        }
        var flags: FrameFlags = []
        if activity.startsTalkspurt { flags.insert(.talkspurtStart) }
        if activity.endsTalkspurt { flags.insert(.talkspurtEnd) }
        if isDTX { flags.insert(.dtx) }
        if settings.inbandFEC, !isDTX { flags.insert(.inbandFEC) }
        if let held { frames.append(held) }
        held = SpokenFrame(
            packet: packet, ticks: Self.samplesPerFrame, silenceBefore: silence,
            level: AudioLevelByte(voice: activity.isVoice, level: Int(activity.level.value)), flags: flags)
        silence = 0
    }
}

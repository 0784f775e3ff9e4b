public import Audio
public import Wire

/// One Opus packet with the header fields that the sender chooses.
public struct SpokenFrame: Sendable, Hashable {
    /// 1 to 1,488 bytes.
    public var packet: [UInt8]
    /// Duration in 48 kHz ticks: 120 (2.5 ms) to 5,760 (120 ms).
    public var ticks: Int
    /// Ticks of silence before it that are not sent.
    public var silenceBefore: Int
    public var level: AudioLevelByte
    public var flags: FrameFlags

    public init(packet: [UInt8], ticks: Int, silenceBefore: Int = 0, level: AudioLevelByte, flags: FrameFlags = []) {
        self.packet = packet
        self.ticks = ticks
        self.silenceBefore = silenceBefore
        self.level = level
        self.flags = flags
    }

    /// Received frames for sending again: the same packets, levels, flags and pauses.
    ///
    /// - Parameter frames: of one track, in order. Invalid Opus packets are left out.
    public static func repeating(_ frames: [ReceivedFrame]) -> [SpokenFrame] {
        var repeated: [SpokenFrame] = []
        var end = frames.first?.header.timestamp
        for frame in frames {
            guard let ticks = try? OpusPacket(frame.packet).ticks else { continue }
            let silence = end.map { Int(frame.header.timestamp.distance(from: $0)) } ?? 0
            end = frame.header.timestamp.advanced(by: ticks)
            repeated.append(
                SpokenFrame(
                    packet: frame.packet, ticks: ticks, silenceBefore: max(silence, 0), level: frame.header.level,
                    flags: frame.header.flags.subtracting(.forbiddenToSenders)))
        }
        return repeated
    }
}

/// Opus encoder settings.
public struct SpeechSettings: Sendable, Hashable {
    /// 6,000 to 510,000; nil lets the encoder choose.
    public var bitsPerSecond: Int?
    /// Discontinuous transmission: omits packets during silence.
    public var dtx: Bool
    /// Adds a low-bit-rate copy of each packet to the next one.
    public var inbandFEC: Bool
    /// Expected packet loss, 0 to 100.
    public var expectedLossPercent: Int
    /// 1, or 2 interleaved.
    public var channels: Int

    public init(
        bitsPerSecond: Int? = nil, dtx: Bool = false, inbandFEC: Bool = false, expectedLossPercent: Int = 0, channels: Int = 1
    ) {
        self.bitsPerSecond = bitsPerSecond
        self.dtx = dtx
        self.inbandFEC = inbandFEC
        self.expectedLossPercent = expectedLossPercent
        self.channels = channels
    }
}

/// Encodes 48 kHz PCM to frames of 20 ms: Opus packets, levels, the voice bit, and the flags of talkspurts and DTX.
///
/// Returns a frame once the next one is encoded, because the last of a talkspurt is marked. With DTX, the first packet of a silence is
/// returned with 0x20, and the rest becomes `silenceBefore` of the next frame. Reads no clock; belongs to one track.
public struct SpeechEncoder: ~Copyable {
    public static let sampleRate = 48_000
    /// 20 ms.
    public static let samplesPerFrame = 960

    private var encoder: OpusEncoder
    private var detector: TalkspurtDetector
    private let settings: SpeechSettings
    /// PCM of an incomplete frame.
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

    /// The codec's delay in 48 kHz ticks (RFC 7845 section 4.2).
    public var preSkip: Int { encoder.preSkip }

    /// Encodes any number of samples and returns the completed frames.
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

    /// Returns the remaining frames; an incomplete one is padded with silence. The last frame ends the talkspurt, if one is active.
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

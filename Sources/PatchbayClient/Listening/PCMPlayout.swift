internal import Audio
internal import Wire

/// Turns frames as they arrive into an even flow of samples. No clock: time is an argument.
struct PCMPlayout: ~Copyable {
    private var buffer: JitterBuffer<ReceivedFrame>
    private var decoder: OpusDecoder
    private let channels: Int
    /// Decoded and not yet given out.
    private var samples: [Int16] = []
    /// What the newest samples are.
    private var content = PCMChunk.Content.silence
    private var epoch: UInt8?
    private(set) var hasStarted = false

    init(channels: Int, jitter: JitterLimits) throws(OpusError) {
        buffer = JitterBuffer(jitter)
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    var statistics: JitterStatistics { buffer.statistics }

    /// Whether all that came has been given out.
    var isDry: Bool { buffer.bufferedFrames == 0 && samples.isEmpty }

    mutating func insert(_ frame: ReceivedFrame) {
        guard follow(epoch: frame.header.epoch), let packet = try? OpusPacket(frame.packet) else { return }
        buffer.insert(
            JitterFrame(
                sequence: frame.header.sequence, timestamp: frame.header.timestamp, ticks: packet.ticks,
                isVoice: frame.header.level.isVoice,
                startsTalkspurt: frame.header.flags.contains(.talkspurtStart), payload: frame),
            at: frame.arrivedAt)
    }

    /// The next 20 ms; nil before the first frame's turn has come.
    mutating func next(at now: Instant) -> PCMChunk? {
        let wanted = PCMChunk.samplesPerChannel * channels
        while samples.count < wanted {
            switch buffer.next(at: now) {
            case .frame(let frame): play(frame.payload)
            case .conceal(let ticks): conceal(ticks)
            case .silence(let ticks): pause(ticks)
            case .wait:
                guard hasStarted else { return nil }
                pause(PCMChunk.samplesPerChannel - samples.count / channels)
            }
            hasStarted = true
        }
        defer { samples.removeFirst(wanted) }
        return PCMChunk(samples: Array(samples[..<wanted]), channels: channels, content: content)
    }

    private mutating func play(_ frame: ReceivedFrame) {
        content = .sound
        let packet = frame.packet
        if (try? decoder.decode(packet.span.bytes, appendingTo: &samples)) == nil { conceal(PCMChunk.samplesPerChannel) }
    }

    private mutating func conceal(_ ticks: Int) {
        content = .concealment
        if (try? decoder.conceal(samples: ticks, appendingTo: &samples)) == nil { pause(ticks) }
    }

    private mutating func pause(_ ticks: Int) {
        content = .silence
        samples.append(contentsOf: repeatElement(0, count: ticks * channels))
    }

    /// Frames of an older epoch are dead; a newer one makes everything before it so (PROTOCOL section 5).
    private mutating func follow(epoch newer: UInt8) -> Bool {
        defer { epoch = epoch ?? newer }
        guard let epoch, newer != epoch else { return true }
        guard Int8(bitPattern: newer &- epoch) > 0 else { return false }
        self.epoch = newer
        buffer.reset()
        decoder.reset()
        return true
    }
}

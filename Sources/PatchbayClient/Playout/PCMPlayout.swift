internal import Audio
internal import Wire

/// Plays a live track through a jitter buffer. Reads no clock: time is an argument.
struct PCMPlayout: ~Copyable {
    /// Maximum concealment before silence. Opus concealment has faded out by then.
    private static let concealedTicksMax = 200 * MediaTime.ticksPerMillisecond
    /// Concealment is generated in multiples of 2.5 ms.
    private static let concealmentStep = 120
    /// The cross-fade where audio was skipped: 5 ms.
    private static let seam = 240

    private var buffer: JitterBuffer<ReceivedFrame>
    private var decoder: OpusDecoder
    private let channels: Int
    /// Decoded samples that were not returned yet.
    private var samples: [Int16] = []
    /// The kind of the latest samples.
    private var content = PCMChunk.Content.silence
    private var epoch: UInt8?
    private(set) var hasStarted = false
    /// The last frame did not end the talkspurt: if no frame follows, one is missing.
    private var isTalking = false
    private var starvedTicks = 0
    private var counters = PlayoutStatistics()

    init(channels: Int, jitter: JitterLimits, expectedStall: Duration = .zero) throws(OpusError) {
        buffer = JitterBuffer(jitter, expectedStall: expectedStall)
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    var statistics: JitterStatistics { buffer.statistics }

    var playout: PlayoutStatistics {
        var playout = counters
        let jitter = buffer.statistics
        let perMillisecond = Double(MediaTime.ticksPerMillisecond)
        playout.concealedMs = Double(jitter.concealedTicks + jitter.stretchedTicks + jitter.underrunTicks) / perMillisecond
        playout.skippedMs += Double(jitter.skippedTicks) / perMillisecond
        playout.underruns = jitter.underruns
        playout.framesLate = jitter.late
        playout.delayMs = jitter.playoutDelay / .milliseconds(1)
        playout.targetMs = jitter.targetDelay / .milliseconds(1)
        playout.bufferedMs = Double(buffer.bufferedTicks + samples.count / channels) / perMillisecond
        return playout
    }

    /// Whether all received audio was returned.
    var isDry: Bool { buffer.bufferedFrames == 0 && samples.isEmpty }

    mutating func insert(_ frame: ReceivedFrame) {
        guard follow(epoch: frame.header.epoch), let packet = try? OpusPacket(frame.packet) else { return }
        buffer.insert(
            JitterFrame(
                sequence: frame.header.sequence, timestamp: frame.header.timestamp, ticks: packet.ticks,
                isVoice: frame.header.level.isVoice, startsTalkspurt: frame.header.flags.contains(.talkspurtStart),
                endsTalkspurt: frame.header.flags.contains(.talkspurtEnd), payload: frame),
            at: frame.arrivedAt)
    }

    /// The next 20 ms; nil before the first frame is due.
    mutating func next(at now: Instant) -> PCMChunk? {
        let wanted = PCMChunk.samplesPerChannel * channels
        while samples.count < wanted {
            // Decoded samples are played before.
            switch buffer.next(at: now + .ticks(samples.count / channels)) {
            case .frame(let frame): play(frame.payload)
            case .conceal(let ticks): conceal(ticks)
            case .silence(let ticks): pause(ticks)
            case .wait:
                guard hasStarted else { return nil }
                starve(PCMChunk.samplesPerChannel - samples.count / channels)
            }
            hasStarted = true
        }
        defer { samples.removeFirst(wanted) }
        return PCMChunk(samples: Array(samples[..<wanted]), channels: channels, content: content)
    }

    private mutating func play(_ frame: ReceivedFrame) {
        content = .sound
        starvedTicks = 0
        isTalking = frame.header.flags.isDisjoint(with: [.talkspurtEnd, .dtx])
        let before = buffer.hasSkipped ? try? decoder.conceal(samples: Self.seam) : nil
        let start = samples.count
        let packet = frame.packet
        guard let decoded = try? decoder.decode(packet.span.bytes, appendingTo: &samples) else {
            return conceal(PCMChunk.samplesPerChannel)
        }
        counters.playedMs += Double(decoded) / Double(MediaTime.ticksPerMillisecond)
        if let before { TimeStretch.join(before, to: &samples, at: start, channels: channels) }
        switch buffer.pace {
        case .even: break
        case .faster:
            let ticks = TimeStretch.shorten(&samples, from: start, channels: channels)
            counters.skippedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
        case .slower: lengthen(from: start)
        case .slowest: for _ in 1...2 { lengthen(from: start) }
        }
    }

    private mutating func lengthen(from start: Int) {
        let ticks = TimeStretch.lengthen(&samples, from: start, channels: channels)
        counters.stretchedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
    }

    /// Uses the in-band FEC of the next packet if there is one, else the decoder's concealment.
    private mutating func conceal(_ ticks: Int) {
        content = .concealment
        if let next = buffer.upcoming?.payload, next.header.flags.contains(.inbandFEC),
            let recovered = try? decoder.recover(samples: ticks, from: next.packet)
        {
            samples += recovered
        } else if (try? decoder.conceal(samples: ticks, appendingTo: &samples)) == nil {
            pause(ticks)
        }
    }

    private mutating func pause(_ ticks: Int) {
        content = .silence
        samples.append(contentsOf: repeatElement(0, count: ticks * channels))
        counters.silenceMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
    }

    /// The buffer is empty.
    private mutating func starve(_ ticks: Int) {
        guard isTalking, starvedTicks < Self.concealedTicksMax else { return pause(ticks) }
        starvedTicks += ticks
        conceal((ticks + Self.concealmentStep - 1) / Self.concealmentStep * Self.concealmentStep)
    }

    /// Drops frames of older epochs; a newer epoch discards everything before it (docs/protocol/media.md, "Frames and bundles").
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

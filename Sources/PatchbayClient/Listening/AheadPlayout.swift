internal import Audio
internal import Wire

/// Plays a track that is sent ahead of its time (PROTOCOL section 5, mode `ahead`). No clock: time is an argument.
///
/// The gateway lets such a track out with a lead, and the lead is all the buffer there is: the first frame plays at once, and from then on
/// timestamps rule. A gap in them is silence, but a frame is never held longer than the lead it can have had: what the gateway let
/// out was due by then.
struct AheadPlayout: ~Copyable {
    private static let lead = Duration.milliseconds(ProtocolLimits.leadMilliseconds)
    /// For how long something is invented when nothing comes, or was lost; then there is silence.
    private static let concealedTicksMax = 60 * MediaTime.ticksPerMillisecond
    /// What a cleared track is faded out over: 10 ms.
    private static let fade = 480

    private var queue: [(frame: ReceivedFrame, ticks: Int)] = []
    private var decoder: OpusDecoder
    private let channels: Int
    /// Decoded and not yet given out.
    private var samples: [Int16] = []
    private var content = PCMChunk.Content.silence
    private(set) var epoch: UInt8?
    /// Up to where on the track the newest samples go; nil before the first frame of an epoch.
    private var end: MediaTime?
    private var lastSequence: SequenceNumber?
    /// Nothing follows what has been played: the next frame plays at once.
    private var isStarved = true
    private var starvedTicks = 0
    private var isTalking = false
    private var hasStarted = false
    private var trail = PlayedTrail()
    private var counted = PlayoutStatistics()

    init(channels: Int) throws(OpusError) {
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    var isDry: Bool { queue.isEmpty && samples.isEmpty }

    var playout: PlayoutStatistics {
        var playout = counted
        playout.bufferedMs = bufferedMs
        return playout
    }

    private var bufferedMs: Double {
        Double(queue.reduce(samples.count / channels) { $0 + $1.ticks }) / Double(MediaTime.ticksPerMillisecond)
    }

    /// How far the track has been heard, if of what was given out so much is still on its way to somebody's ear.
    func position(heldTicks: Int) -> PlayoutPosition? {
        guard let epoch else { return nil }
        let played = trail.position(heldTicks: heldTicks)
        let held = Double(trail.ticksAfter(played)) / Double(MediaTime.ticksPerMillisecond)
        return PlayoutPosition(epoch: epoch, playedTo: played, bufferedMs: bufferedMs + held, isPlaying: !isStarved || held > 0)
    }

    mutating func insert(_ frame: ReceivedFrame) {
        guard follow(epoch: frame.header.epoch), let packet = try? OpusPacket(frame.packet) else { return }
        // What comes again after a resume has been heard, or waits to be.
        if let last = queue.last?.frame.header.sequence ?? lastSequence, frame.header.sequence.distance(from: last) <= 0 {
            counted.framesLate += 1
            return
        }
        queue.append((frame, packet.ticks))
        if queue.count > StreamLimits.framesMax { queue.removeFirst() }
    }

    /// The next 20 ms; nil before the first frame.
    mutating func next(at now: Instant) -> PCMChunk? {
        let wanted = PCMChunk.samplesPerChannel * channels
        while samples.count < wanted {
            if !queue.isEmpty {
                playHead(at: now + .ticks(samples.count / channels))
            } else {
                guard hasStarted else { return nil }
                starve(PCMChunk.samplesPerChannel - samples.count / channels)
            }
            hasStarted = true
        }
        let chunk = PCMChunk(samples: Array(samples[..<wanted]), channels: channels, content: content)
        samples.removeFirst(wanted)
        trail.gave(PCMChunk.samplesPerChannel, upTo: end.map { isStarved ? $0 : $0.advanced(by: -samples.count / channels) })
        return chunk
    }

    // MARK: Clearing

    /// Everything of an older epoch is gone: what sounds fades out within 10 ms, what waits is dropped.
    mutating func clear(epoch newer: UInt8) {
        guard epoch.map({ Int8(bitPattern: newer &- $0) > 0 }) ?? true else { return }
        samples = fadingOut()
        epoch = newer
        queue.removeAll { $0.frame.header.epoch != newer }
        decoder.reset()
        trail = PlayedTrail()
        end = nil
        lastSequence = nil
        isStarved = true
        isTalking = false
        starvedTicks = 0
    }

    private mutating func fadingOut() -> [Int16] {
        guard !isStarved else { return [] }
        let count = Self.fade * channels
        if samples.count < count, let next = queue.first?.frame.packet {
            _ = try? decoder.decode(next.span.bytes, appendingTo: &samples)
        }
        if samples.count < count { try? decoder.conceal(samples: Self.fade, appendingTo: &samples) }
        return samples.prefix(count).enumerated().map { index, sample in
            Int16(Int(sample) * (Self.fade - index / channels) / Self.fade)
        }
    }

    private mutating func follow(epoch newer: UInt8) -> Bool {
        guard let epoch else {
            self.epoch = newer
            return true
        }
        if Int8(bitPattern: newer &- epoch) > 0 { clear(epoch: newer) }
        return newer == self.epoch
    }

    // MARK: Playing

    /// Plays the first frame that waits, or a piece of what lies before it.
    ///
    /// - Parameter now: when it would be heard.
    private mutating func playHead(at now: Instant) {
        let (frame, ticks) = queue[0]
        let start = frame.header.timestamp
        let gap = end.map { Int(start.distance(from: $0)) } ?? 0
        let lost = lastSequence.map { frame.header.sequence.distance(from: $0) - 1 } ?? 0
        if isStarved {
            if starvedTicks > 0, gap == 0 || lost > 0, !frame.header.flags.contains(.talkspurtStart) {
                counted.underruns += 1
                counted.concealedMs += Double(starvedTicks) / Double(MediaTime.ticksPerMillisecond)
            }
        } else if gap > 0 {
            let left = min(gap, (frame.arrivedAt + Self.lead - now).inTicks / 120 * 120)
            if left > 0 { return bridge(min(left, PCMChunk.samplesPerChannel), isLoss: lost > 0) }
            counted.skippedMs += Double(gap) / Double(MediaTime.ticksPerMillisecond)
        }
        if end == nil || isStarved { trail.begin(at: start) }
        queue.removeFirst()
        isStarved = false
        starvedTicks = 0
        lastSequence = frame.header.sequence
        isTalking = frame.header.flags.isDisjoint(with: [.talkspurtEnd, .dtx])
        end = start.advanced(by: ticks)
        content = .sound
        if (try? decoder.decode(frame.packet.span.bytes, appendingTo: &samples)) != nil {
            counted.playedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
        } else {
            conceal(ticks)
        }
    }

    private mutating func bridge(_ ticks: Int, isLoss: Bool) {
        let ticks = max(ticks / 120 * 120, 120)
        end = end?.advanced(by: ticks)
        if isLoss, starvedTicks < Self.concealedTicksMax {
            starvedTicks += ticks
            conceal(ticks)
            counted.concealedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
        } else {
            pause(ticks)
        }
    }

    private mutating func starve(_ ticks: Int) {
        isStarved = true
        starvedTicks += ticks
        if isTalking, starvedTicks <= Self.concealedTicksMax { conceal((ticks + 119) / 120 * 120) } else { pause(ticks) }
    }

    private mutating func conceal(_ ticks: Int) {
        content = .concealment
        if (try? decoder.conceal(samples: ticks, appendingTo: &samples)) == nil { pause(ticks) }
    }

    private mutating func pause(_ ticks: Int) {
        content = .silence
        samples.append(contentsOf: repeatElement(0, count: ticks * channels))
        counted.silenceMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
    }
}

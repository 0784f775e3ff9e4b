internal import Audio
internal import Wire

/// Plays a track of mode `ahead` (docs/protocol/media.md, "Queues and pacing"). Reads no clock: time is an argument.
///
/// The gateway releases such a track with a lead, and the lead is the whole buffer: the first frame plays at once, and timestamps decide from
/// then on. A gap in them is silence, but a frame is held for at most the
/// lead: the gateway does not release frames earlier than that.
struct AheadPlayout: ~Copyable {
    private static let lead = Duration.milliseconds(ProtocolLimits.leadMilliseconds)
    /// Maximum concealment before silence.
    private static let concealedTicksMax = 60 * MediaTime.ticksPerMillisecond
    /// The fade-out of a cleared track: 10 ms.
    private static let fade = 480

    private var queue: [(frame: ReceivedFrame, ticks: Int)] = []
    private var decoder: OpusDecoder
    private let channels: Int
    /// Decoded samples that were not returned yet.
    private var samples: [Int16] = []
    private var content = PCMChunk.Content.silence
    private(set) var epoch: UInt8?
    /// The end of the decoded samples on the track; nil before the first frame of an epoch.
    private var end: MediaTime?
    private var lastSequence: SequenceNumber?
    /// The buffer is empty: the next frame plays at once.
    private var isStarved = true
    private var starvedTicks = 0
    private var isTalking = false
    private var hasStarted = false
    private var history = PlayoutHistory()
    private var counters = PlayoutStatistics()

    init(channels: Int) throws(OpusError) {
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    var isDry: Bool { queue.isEmpty && samples.isEmpty }

    var playout: PlayoutStatistics {
        var playout = counters
        playout.bufferedMs = bufferedMs
        return playout
    }

    private var bufferedMs: Double {
        Double(queue.reduce(samples.count / channels) { $0 + $1.ticks }) / Double(MediaTime.ticksPerMillisecond)
    }

    /// The playout position while the output device still buffers `heldTicks`.
    func position(heldTicks: Int) -> PlayoutPosition? {
        guard let epoch else { return nil }
        let played = history.position(heldTicks: heldTicks)
        let held = Double(history.ticksAfter(played)) / Double(MediaTime.ticksPerMillisecond)
        return PlayoutPosition(epoch: epoch, playedTo: played, bufferedMs: bufferedMs + held, isPlaying: !isStarved || held > 0)
    }

    mutating func insert(_ frame: ReceivedFrame) {
        guard follow(epoch: frame.header.epoch), let packet = try? OpusPacket(frame.packet) else { return }
        // A resume repeats frames that were played or are queued.
        if let last = queue.last?.frame.header.sequence ?? lastSequence, frame.header.sequence.distance(from: last) <= 0 {
            counters.framesLate += 1
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
        history.append(PCMChunk.samplesPerChannel, upTo: end.map { isStarved ? $0 : $0.advanced(by: -samples.count / channels) })
        return chunk
    }

    // MARK: Clearing

    /// Discards all older epochs: fades out within 10 ms and drops queued frames.
    mutating func clear(epoch newer: UInt8) {
        guard epoch.map({ Int8(bitPattern: newer &- $0) > 0 }) ?? true else { return }
        samples = fadingOut()
        epoch = newer
        queue.removeAll { $0.frame.header.epoch != newer }
        decoder.reset()
        history = PlayoutHistory()
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

    /// Plays the first queued frame, or a part of the gap before it.
    ///
    /// - Parameter now: when it would be audible.
    private mutating func playHead(at now: Instant) {
        let (frame, ticks) = queue[0]
        let start = frame.header.timestamp
        let gap = end.map { Int(start.distance(from: $0)) } ?? 0
        let lost = lastSequence.map { frame.header.sequence.distance(from: $0) - 1 } ?? 0
        if isStarved {
            if starvedTicks > 0, gap == 0 || lost > 0, !frame.header.flags.contains(.talkspurtStart) {
                counters.underruns += 1
                counters.concealedMs += Double(starvedTicks) / Double(MediaTime.ticksPerMillisecond)
            }
        } else if gap > 0 {
            let left = min(gap, (frame.arrivedAt + Self.lead - now).inTicks / 120 * 120)
            if left > 0 { return bridge(min(left, PCMChunk.samplesPerChannel), isLoss: lost > 0) }
            counters.skippedMs += Double(gap) / Double(MediaTime.ticksPerMillisecond)
        }
        if end == nil || isStarved { history.begin(at: start) }
        queue.removeFirst()
        isStarved = false
        starvedTicks = 0
        lastSequence = frame.header.sequence
        isTalking = frame.header.flags.isDisjoint(with: [.talkspurtEnd, .dtx])
        end = start.advanced(by: ticks)
        content = .sound
        if (try? decoder.decode(frame.packet.span.bytes, appendingTo: &samples)) != nil {
            counters.playedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
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
            counters.concealedMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
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
        counters.silenceMs += Double(ticks) / Double(MediaTime.ticksPerMillisecond)
    }
}

/// The recent output of a track, to find the audible position while the output device buffers a part.
struct PlayoutHistory {
    /// 2 s of 20 ms chunks, more than any output device buffers.
    private static let piecesMax = 100

    /// In order; each piece starts where the previous one ended.
    private var pieces: [(ticks: Int, end: MediaTime)] = []
    private var start: MediaTime?

    /// Audio starts at `timestamp`, after nothing or after silence that is not part of the track.
    mutating func begin(at timestamp: MediaTime) {
        if start == nil { start = timestamp }
    }

    /// Appends `ticks` of output that ends at `end` on the track; nil if no audio has begun.
    mutating func append(_ ticks: Int, upTo end: MediaTime?) {
        guard let end, start != nil else { return }
        pieces.append((ticks, end))
        if pieces.count > Self.piecesMax { start = pieces.removeFirst().end }
    }

    /// The position heard while the last `heldTicks` of output are not audible yet; nil if nothing was heard.
    func position(heldTicks: Int) -> MediaTime? {
        var held = heldTicks
        for (index, piece) in pieces.enumerated().reversed() {
            if held <= 0 { return piece.end }
            if held < piece.ticks {
                // Not before the piece's start: it may contain silence that is not part of the track.
                let before = index > 0 ? pieces[index - 1].end : start ?? piece.end
                let position = piece.end.advanced(by: -held)
                return position.distance(from: before) > 0 ? position : index > 0 || position != before ? before : nil
            }
            held -= piece.ticks
        }
        return pieces.count == Self.piecesMax ? start : nil
    }

    /// Ticks of the track from `position` to the end of the output.
    func ticksAfter(_ position: MediaTime?) -> Int {
        guard let end = pieces.last?.end, let from = position ?? start else { return 0 }
        return max(Int(end.distance(from: from)), 0)
    }
}

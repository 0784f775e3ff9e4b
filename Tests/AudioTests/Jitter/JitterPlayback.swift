import Audio
import Wire

/// A track sent over a faulty network to a player that requests audio whenever it has played everything.
struct JitterPlayback {
    struct Network {
        var lossPercent = 0
        var duplicatePercent = 0
        /// Each frame's delay is drawn from zero to this.
        var jitterMilliseconds = 0
        /// Now and then everything is held up for so long and then comes at once.
        var stallMilliseconds = 0
    }

    /// The player's requests to the buffer, with time and result.
    private(set) var outputs: [(at: Int, output: JitterBuffer<Int>.Output)] = []
    private(set) var buffer: JitterBuffer<Int>
    private var arrivals: [(at: Int, frame: JitterFrame<Int>)] = []

    init(_ limits: JitterLimits = JitterLimits()) {
        buffer = JitterBuffer(limits)
    }

    /// Frames of 20 ms, number `n` sent at n × 20 ms, with pauses where `isSent` is false.
    mutating func send(
        _ count: Int, over network: Network, seed: Int, isVoice: (Int) -> Bool = { _ in true }, isSent: (Int) -> Bool = { _ in true }
    ) {
        var random = SplitMix64(seed: seed)
        var sequence = SequenceNumber(UInt16(truncatingIfNeeded: random.next()))
        let start = MediaTime(ticks: UInt32(truncatingIfNeeded: random.next()))
        var stalledUntil = 0
        var paused = true
        for number in 0..<count {
            guard isSent(number) else {
                paused = true
                continue
            }
            let frame = JitterFrame(
                sequence: sequence, timestamp: start.advanced(by: number * 960), ticks: 960, isVoice: isVoice(number),
                startsTalkspurt: paused, payload: number)
            paused = false
            sequence = sequence.next
            if network.stallMilliseconds > 0, random.chance(1) { stalledUntil = number * 20 + network.stallMilliseconds }
            let arrival = max(number * 20 + random.below(network.jitterMilliseconds + 1), stalledUntil)
            if random.chance(network.lossPercent) { continue }
            arrivals.append((arrival, frame))
            if random.chance(network.duplicatePercent) { arrivals.append((arrival + random.below(100), frame)) }
        }
        // Insertion order for equal times, so that a seed always means the same.
        arrivals = arrivals.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// As `send`, over a perfect network that holds up `stalledFrames` until the last of them is sent.
    mutating func sendWithOneStall(_ count: Int, stalledFrames: Range<Int>, isVoice: (Int) -> Bool, isSent: (Int) -> Bool) {
        send(count, over: Network(), seed: 0, isVoice: isVoice, isSent: isSent)
        arrivals = arrivals.map { at, frame in
            stalledFrames.contains(frame.payload) ? (stalledFrames.upperBound * 20, frame) : (at, frame)
        }
    }

    /// Plays until `milliseconds`, in steps of one millisecond.
    mutating func run(milliseconds: Int) {
        var nextArrival = 0
        var playedUntil = 0.0
        for now in 0..<milliseconds {
            let instant = Instant(nanoseconds: UInt64(now) * 1_000_000)
            while nextArrival < arrivals.count, arrivals[nextArrival].at <= now {
                buffer.insert(arrivals[nextArrival].frame, at: instant)
                nextArrival += 1
            }
            while playedUntil <= Double(now) {
                let output = buffer.next(at: instant)
                outputs.append((now, output))
                playedUntil += Double(Self.ticks(of: output)) / 48
            }
        }
    }

    /// A player that has to wait plays 10 ms of silence.
    private static func ticks(of output: JitterBuffer<Int>.Output) -> Int {
        switch output {
        case .frame(let frame): frame.ticks
        case .conceal(let ticks), .silence(let ticks): ticks
        case .wait: 480
        }
    }

    var played: [Int] {
        outputs.compactMap { if case .frame(let frame) = $0.output { frame.payload } else { nil } }
    }

    /// From being sent to being played, for each frame played at or after `milliseconds`.
    func delays(from milliseconds: Int = 0) -> [Int] {
        outputs.compactMap { at, output in
            if at >= milliseconds, case .frame(let frame) = output { at - frame.payload * 20 } else { nil }
        }
    }
}

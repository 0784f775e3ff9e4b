/// What was seen each second, and what the processes had used when measuring began and ended.
struct Timeline: Sendable {
    struct Point: Sendable, Codable {
        /// Since the run began.
        var second: Double
        var calls: Int
        /// Frames are sent: the run is not at its end.
        var isSending: Bool
        var isMeasured: Bool
        /// Added latency of the frames of this second, in milliseconds.
        var p50: Double
        var p99: Double
        /// Deliveries in this second.
        var frames: Int
        /// Deliveries missing so far.
        var lost: Int
        /// Percent of one core; absent without the server's pid.
        var serverCPU: Double?
        var ownCPU: Double
        /// Resident memory, in MB; absent without the server's pid.
        var serverMemory: Double?
    }

    /// One end of what is measured.
    struct Mark: Sendable {
        var at: UInt64
        var server: ProcessSample?
        var own: ProcessSample?
        var calls = 0
    }

    private(set) var points: [Point] = []
    /// Of the second that is under way.
    var latency = Latencies()
    var phaseBegan: UInt64 = 0
    private(set) var nextSample: UInt64 = 0
    /// Before the first call.
    private(set) var beginning = Mark(at: 0)
    private(set) var from: Mark?
    private(set) var to: Mark?
    private(set) var callSeconds = 0.0
    private var last = Mark(at: 0)
    /// Connections that joined while the calls began, and how long after the run's beginning the last one did.
    private(set) var rampSeconds = 0.0
    private(set) var rampJoined = 0

    mutating func begin(at now: UInt64, server: ProcessSample?, own: ProcessSample?) {
        beginning = Mark(at: now, server: server, own: own)
        last = beginning
        phaseBegan = now
        nextSample = now + 1_000_000_000
    }

    mutating func joined(at now: UInt64) {
        rampJoined += 1
        rampSeconds = Double(now &- beginning.at) / 1e9
    }

    mutating func measure(from now: UInt64, server: ProcessSample?, own: ProcessSample?, calls: Int) {
        from = Mark(at: now, server: server, own: own, calls: calls)
    }

    mutating func measured(to now: UInt64, server: ProcessSample?, own: ProcessSample?, tally: Tally) {
        to = Mark(at: now, server: server, own: own)
    }

    mutating func sample(
        at now: UInt64, calls: Int, phase: RunPhase, tally: Tally, server: ProcessSample?, own: ProcessSample?
    ) {
        let span = Double(now &- last.at)
        if phase == .measuring { callSeconds += Double(calls) * span / 1e9 }
        func percent(_ old: ProcessSample?, _ new: ProcessSample?) -> Double? {
            guard let old, let new else { return nil }
            return Double(new.cpu &- old.cpu) / span * 100
        }
        points.append(
            Point(
                second: Double(now &- beginning.at) / 1e9, calls: calls, isSending: phase < .draining, isMeasured: phase == .measuring,
                p50: latency.percentile(50),
                p99: latency.percentile(99), frames: latency.count, lost: tally.lost, serverCPU: percent(last.server, server),
                ownCPU: percent(last.own, own) ?? 0, serverMemory: server.map { Double($0.resident) / 1e6 }))
        latency.reset()
        last = Mark(at: now, server: server, own: own)
        nextSample = now + 1_000_000_000
    }
}

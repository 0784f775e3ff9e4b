import Foundation

/// One sample per second, and the resources used by both processes when measuring began and ended.
struct Timeline: Sendable {
    struct Point: Sendable, Codable {
        /// Seconds since the start of the run.
        var second: Double
        var calls: Int
        /// False while the run drains and ends.
        var isSending: Bool
        var isMeasured: Bool
        /// Added latency of the frames of this second, in milliseconds.
        var p50: Double
        var p99: Double
        /// Deliveries in this second.
        var frames: Int
        /// Missing deliveries so far.
        var lost: Int
        /// Percent of one core; nil without `--server-pid`.
        var serverCPU: Double?
        var ownCPU: Double
        /// Resident memory in MB; nil without `--server-pid`.
        var serverMemory: Double?
    }

    /// Begin or end of the measurement.
    struct Mark: Sendable {
        var at: UInt64
        var server: ProcessSample?
        var own: ProcessSample?
        var calls = 0
    }

    private(set) var points: [Point] = []
    /// Of the current second.
    var latency = Latencies()
    var phaseBegan: UInt64 = 0
    private(set) var nextSample: UInt64 = 0
    /// Before the first call.
    private(set) var beginning = Mark(at: 0)
    private(set) var from: Mark?
    private(set) var to: Mark?
    private(set) var callSeconds = 0.0
    private var last = Mark(at: 0)
    /// Connections that joined during ramp-up, and the time until the last one did.
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

/// CPU time and memory of a process, from the kernel.
struct ProcessSample: Sendable, Hashable {
    /// CPU time of all its threads, in nanoseconds.
    var cpu: UInt64
    /// Resident memory, in bytes.
    var resident: UInt64

    /// - Parameter pid: nil for this process.
    /// - Returns: nil if there is no such process.
    init?(pid: Int32?) {
        var clock = CLOCK_PROCESS_CPUTIME_ID
        // Not /proc/PID/stat, which counts in 10 ms ticks.
        if let pid, clock_getcpuclockid(pid, &clock) != 0 { return nil }
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        cpu = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        let path = "/proc/\(pid.map(String.init) ?? "self")/statm"
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        resident = pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

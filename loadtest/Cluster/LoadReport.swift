import Histogram

/// The report of a run, as JSON with names in snake_case.
struct LoadReport: Encodable {
    let calls: Int
    /// Both parties have heard each other.
    let established: Int
    /// Both parties were connected at the end.
    let connected: Int
    let total: Counts
    let parts: [Part]
    let problems: [String: Int]

    struct Counts: Encodable {
        let callsLost, resumes, snapshots, freshJoins: Int
        let requestsAcknowledged, acknowledgedLost, requestsRefused: Int
        let eventsRepeated, eventsSkipped: Int
        let framesSent, framesSkipped: Int
        /// The longest time for which this program did not run; gaps up to that length may be its own.
        let pauseMaxMs: Double
        let resumeMaxMs: Double
    }

    struct Part: Encodable {
        let name: String
        let nodes: [String]
        let seconds: Double
        let counts: Counts
        /// Calls at home on the mark's nodes, calls that only lead through them, and the others.
        let home, way, others: Group
    }

    struct Group: Encodable {
        let calls: Int
        let frames, framesLost: Int
        let gaps: Gaps
        let latencyP50Ms, latencyP99Ms, latencyMaxMs: Double
    }

    /// Over 200 ms. The percentiles are over the longest gap of each receiver that had any.
    struct Gaps: Encodable {
        let count, receivers, unfinished: Int
        let p50Ms, p95Ms, p99Ms, maxMs: Double
        /// Each receiver's longest, ascending, so that parts can be combined.
        let longestMs: [Double]
    }
}

extension LoadReport {
    init(_ timeline: Timeline, calls: Int, established: Int, connected: Int, at now: UInt64) {
        self.calls = calls
        self.established = established
        self.connected = connected
        var total = Timeline.Counts()
        for part in timeline.parts { total.add(part.counts) }
        self.total = Counts(total)
        let ends = timeline.parts.dropFirst().map(\.began) + [now]
        parts = zip(timeline.parts, ends).map { part, end in
            func group(_ concern: Timeline.Concern) -> Group {
                Group(part.groups[concern.rawValue], calls: part.concerns.count { $0 == concern })
            }
            return Part(
                name: part.name, nodes: part.nodes, seconds: (Double(end - part.began) / 1e8).rounded() / 10, counts: Counts(part.counts),
                home: group(.home), way: group(.way), others: group(.none))
        }
        problems = timeline.problems
    }
}

extension LoadReport.Counts {
    init(_ counts: Timeline.Counts) {
        self.init(
            callsLost: counts.callsLost, resumes: counts.resumes, snapshots: counts.snapshots, freshJoins: counts.freshJoins,
            requestsAcknowledged: counts.acknowledged, acknowledgedLost: counts.acknowledgedLost, requestsRefused: counts.requestsRefused,
            eventsRepeated: counts.eventsRepeated, eventsSkipped: counts.eventsSkipped, framesSent: counts.framesSent,
            framesSkipped: counts.framesSkipped, pauseMaxMs: milliseconds(counts.pauseMax), resumeMaxMs: milliseconds(counts.resumeMax))
    }
}

extension LoadReport.Group {
    init(_ group: Timeline.Group, calls: Int) {
        func latency(_ percent: Double) -> Double {
            group.latency.totalCount == 0 ? 0 : Double(group.latency.valueAtPercentile(percent)) / 1_000
        }
        self.init(
            calls: calls, frames: group.frames, framesLost: group.framesLost, gaps: LoadReport.Gaps(group), latencyP50Ms: latency(50),
            latencyP99Ms: latency(99), latencyMaxMs: latency(100))
    }
}

extension LoadReport.Gaps {
    init(_ group: Timeline.Group) {
        let sorted = group.longest.values.sorted()
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty ? 0 : milliseconds(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        self.init(
            count: group.gaps, receivers: sorted.count, unfinished: group.unfinished, p50Ms: percentile(0.5), p95Ms: percentile(0.95),
            p99Ms: percentile(0.99), maxMs: percentile(1), longestMs: sorted.map(milliseconds))
    }
}

extension Timeline.Counts {
    mutating func add(_ other: Self) {
        callsLost += other.callsLost
        resumes += other.resumes
        snapshots += other.snapshots
        freshJoins += other.freshJoins
        acknowledged += other.acknowledged
        acknowledgedLost += other.acknowledgedLost
        requestsRefused += other.requestsRefused
        eventsRepeated += other.eventsRepeated
        eventsSkipped += other.eventsSkipped
        framesSent += other.framesSent
        framesSkipped += other.framesSkipped
        pauseMax = max(pauseMax, other.pauseMax)
        resumeMax = max(resumeMax, other.resumeMax)
    }
}

/// With one digit after the point.
private func milliseconds(_ nanoseconds: UInt64) -> Double {
    (Double(nanoseconds) / 1e5).rounded() / 10
}

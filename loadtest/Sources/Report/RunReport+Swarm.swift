extension RunReport {
    /// The generator is behind if the p99 of its lateness in milliseconds, or the share of frames it withheld, exceeds these.
    static let latenessMax = 5.0
    static let withheldMax = 0.005

    /// The generated load was less than requested.
    var withheldTooMuch: Bool { Self.exceedsWithheldMax(withheld: frames.withheld, sent: frames.sent) }

    static func exceedsWithheldMax(withheld: Int, sent: Int) -> Bool {
        Double(withheld) > withheldMax * Double(sent + withheld)
    }

    init(of swarm: Swarm) {
        let tally = swarm.tally
        let total = swarm.total
        let timeline = swarm.timeline
        let span = timeline.from.flatMap { from in timeline.to.map { Double($0.at &- from.at) } } ?? 0
        scenario = swarm.scenario
        seconds = span / 1e9
        joins = Joins(
            asked: total.connectionsAttempted, joined: total.joined, failed: total.joinsFailed,
            perSecond: timeline.rampSeconds > 0 ? Double(timeline.rampJoined) / timeline.rampSeconds : 0,
            p50: total.join.percentile(50), p99: total.join.percentile(99))
        calls = Calls(
            ended: total.callsEnded, cut: total.callsDisconnected, connectionsDied: total.connectionsLost, errorReplies: total.errorReplies,
            rejoinP50: total.rejoin.percentile(50), rejoinP99: total.rejoin.percentile(99))
        frames = Frames(
            sent: tally.sent, expected: tally.expected, received: tally.received + tally.slowReceived, lost: tally.lost,
            late: tally.late, repeated: tally.duplicates, corrupt: tally.corrupt, flagged: tally.flagged, withheld: tally.withheld)
        latency = Latency(tally.latency)
        quality = Quality(tally)
        server = Server(timeline, frames: tally.received + tally.slowReceived, span: span)
        generator = Generator(timeline, tally, span: span)
        bargeIns =
            tally.bargeIn.count == 0
            ? nil : BargeIns(count: tally.bargeIn.count, p50: tally.bargeIn.percentile(50), p99: tally.bargeIn.percentile(99))
        slowListeners = swarm.scenario.slowListeners.map { _ in
            SlowListeners(
                stops: tally.pauses, received: tally.slowReceived, lost: tally.slowLost, p50: tally.slowLatency.percentile(50),
                p99: tally.slowLatency.percentile(99), over200: tally.slowLatency.share(overMilliseconds: 200))
        }
        self.timeline = timeline.points
        histogram = tally.latency.buckets().map { Bucket(upToMilliseconds: $0.milliseconds, count: $0.count) }
        problems = []
        problems = findProblems(firstProblem: total.firstProblem)
        if let problem = swarm.rooms?.problem { problems.append(problem) }
    }

    private func findProblems(firstProblem: String?) -> [String] {
        var problems: [String] = []
        if joins.joined == 0 { problems.append("no participant could join") }
        if joins.failed > 0 { problems.append("\(joins.failed) joins failed") }
        if calls.connectionsDied > 0 { problems.append("\(calls.connectionsDied) connections died") }
        if calls.errorReplies > 0 { problems.append("\(calls.errorReplies) requests were refused") }
        if !problems.isEmpty, let firstProblem { problems.append("first problem: \(firstProblem)") }
        if joins.joined > 0, frames.sent == 0 { problems.append("no frame was sent during the measurement") }
        if frames.lost > 0 { problems.append("\(frames.lost) of \(frames.expected) frames were lost") }
        if frames.late > 0 { problems.append("\(frames.late) frames arrived out of order") }
        if frames.repeated > 0 { problems.append("\(frames.repeated) frames were duplicated") }
        if frames.corrupt > 0 { problems.append("\(frames.corrupt) frames were changed in transit") }
        return problems
    }
}

extension RunReport.Latency {
    fileprivate init(_ times: Latencies) {
        self.init(
            p50: times.percentile(50), p90: times.percentile(90), p99: times.percentile(99), p999: times.percentile(99.9),
            max: times.maxMilliseconds, over40: times.share(overMilliseconds: 40), over60: times.share(overMilliseconds: 60),
            over100: times.share(overMilliseconds: 100), over200: times.share(overMilliseconds: 200))
    }
}

extension RunReport.Quality {
    fileprivate init(_ tally: Tally) {
        let median = tally.latency.percentile(50)
        // Frames later than the jitter buffer count as lost.
        let tooLate = tally.latency.share(overMilliseconds: UInt64(median + AssumedPlayout.jitterBuffer))
        let missing = tally.expected > 0 ? Double(max(0, tally.lost)) / Double(tally.expected) : 0
        let model = AssumedPlayout.quality(medianMilliseconds: median, lossPercent: min(1, missing + tooLate) * 100)
        self.init(
            rating: model.rating, meanOpinionScore: model.meanOpinionScore, delay: model.delay, lossPercent: model.lossPercent)
    }
}

extension RunReport.Server {
    fileprivate init?(_ timeline: Timeline, frames: Int, span: Double) {
        guard let from = timeline.from, let before = from.server, let after = timeline.to?.server, let start = timeline.beginning.server
        else { return nil }
        let cpu = Double(after.cpu &- before.cpu)
        let callMinutes = timeline.callSeconds / 60
        self.init(
            cpuPercent: span > 0 ? cpu / span * 100 : 0, microsecondsPerFrame: frames > 0 ? cpu / 1e3 / Double(frames) : 0,
            millisecondsPerCallMinute: callMinutes > 0 ? cpu / 1e6 / callMinutes : 0,
            megabytesAtStart: Double(start.resident) / 1e6, megabytesAtEnd: Double(after.resident) / 1e6,
            kilobytesPerCall: from.calls > 0 ? (Double(before.resident) - Double(start.resident)) / 1e3 / Double(from.calls) : 0)
    }
}

extension RunReport.Generator {
    fileprivate init(_ timeline: Timeline, _ tally: Tally, span: Double) {
        var cpu = 0.0
        if let before = timeline.from?.own, let after = timeline.to?.own { cpu = Double(after.cpu &- before.cpu) }
        let frames = tally.sent + tally.received + tally.slowReceived
        let late = tally.lateness.percentile(99)
        self.init(
            cpuPercent: span > 0 ? cpu / span * 100 : 0, microsecondsPerFrame: frames > 0 ? cpu / 1e3 / Double(frames) : 0,
            latenessP50: tally.lateness.percentile(50), latenessP99: late, latenessMax: tally.lateness.maxMilliseconds,
            isBehind: late > RunReport.latenessMax || RunReport.exceedsWithheldMax(withheld: tally.withheld, sent: tally.sent))
    }
}

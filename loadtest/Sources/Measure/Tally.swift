/// Counters and timings of the measurement, reset when it begins.
struct Tally: Sendable {
    /// Frames written, and the deliveries expected for them.
    var sent = 0
    var expected = 0
    var received = 0
    var lost = 0
    var late = 0
    var duplicates = 0
    /// Header, track or sequence differs from what was sent.
    var corrupt = 0
    /// Frames with flag 0x08, by which the gateway reports a gap.
    var flagged = 0
    /// Frames not sent because the socket was congested or the generator too late.
    var withheld = 0
    var controlReceived = 0
    var latency = Latencies()
    /// Delay between a frame's scheduled and actual send time.
    var lateness = Latencies()
    /// From the user's first frame of an interruption to the arrival of the assistant's last.
    var bargeIn = Latencies()
    // Subscribers that stop reading, for which loss is expected.
    var slowReceived = 0
    var slowLost = 0
    var slowLatency = Latencies()
    var pauses = 0
}

/// Counters and timings of the whole run.
struct CallTally: Sendable {
    var connectionsAttempted = 0
    var joined = 0
    var joinsFailed = 0
    /// Connections that closed unexpectedly.
    var connectionsLost = 0
    var callsEnded = 0
    var callsDisconnected = 0
    var errorReplies = 0
    /// From connecting to `hello`.
    var join = Latencies()
    /// From the disconnection until all members are ready again.
    var rejoin = Latencies()
    var firstProblem: String?

    mutating func recordProblem(_ problem: String) {
        if firstProblem == nil { firstProblem = problem }
    }
}

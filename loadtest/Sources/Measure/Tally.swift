/// What is counted and timed while it is measured: plain integers, reset when measuring begins.
struct Tally: Sendable {
    /// Frames written, and how often they should be heard.
    var sent = 0
    var expected = 0
    var received = 0
    var lost = 0
    var late = 0
    var repeated = 0
    /// Not as they were sent: header, track or sequence.
    var corrupt = 0
    /// Frames of 0x08, with which the gateway owns up to a gap.
    var flagged = 0
    /// Frames not sent, because the socket was full or the generator far too late.
    var withheld = 0
    var controlReceived = 0
    var latency = Latencies()
    /// How long after its moment a frame was sent.
    var lateness = Latencies()
    /// From the first frame of a user who breaks in to the arrival of the assistant's last.
    var bargeIn = Latencies()
    /// To those who stop reading: for them loss is what the gateway promises.
    var slowReceived = 0
    var slowLost = 0
    var slowLatency = Latencies()
    var stops = 0
}

/// What is counted over the whole run.
struct CallTally: Sendable {
    var connectionsAsked = 0
    var joined = 0
    var joinsFailed = 0
    /// Connections that ended though nobody wanted it.
    var died = 0
    var callsEnded = 0
    var callsCut = 0
    var errorReplies = 0
    /// TCP, TLS, token and `hello`.
    var join = Latencies()
    /// From being cut off to hearing each other again.
    var rejoin = Latencies()
    var firstProblem: String?

    mutating func note(_ problem: String) {
        if firstProblem == nil { firstProblem = problem }
    }
}

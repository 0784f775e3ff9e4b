/// The results of a run: source of the text, `--json` and HTML reports.
struct RunReport: Sendable, Codable {
    struct Joins: Sendable, Codable {
        var asked: Int
        var joined: Int
        var failed: Int
        /// While calls were started.
        var perSecond: Double
        /// TCP, TLS, token and `hello`, in milliseconds.
        var p50: Double
        var p99: Double
    }

    struct Frames: Sendable, Codable {
        var sent: Int
        /// Expected deliveries: frames sent, times their subscribers.
        var expected: Int
        var received: Int
        var lost: Int
        var late: Int
        var repeated: Int
        var corrupt: Int
        var flagged: Int
        var withheld: Int
    }

    /// In milliseconds; shares are 0…1.
    struct Latency: Sendable, Codable {
        var p50: Double
        var p90: Double
        var p99: Double
        var p999: Double
        var max: Double
        var over40: Double
        var over60: Double
        var over100: Double
        var over200: Double
    }

    struct Quality: Sendable, Codable {
        var rating: Double
        var meanOpinionScore: Double
        /// One way, mouth to ear, in milliseconds.
        var delay: Double
        var lossPercent: Double
    }

    struct Server: Sendable, Codable {
        /// Percent of one core.
        var cpuPercent: Double
        var microsecondsPerFrame: Double
        var millisecondsPerCallMinute: Double
        var megabytesAtStart: Double
        var megabytesAtEnd: Double
        var kilobytesPerCall: Double
    }

    struct Generator: Sendable, Codable {
        var cpuPercent: Double
        /// Per frame sent or received.
        var microsecondsPerFrame: Double
        /// Delay between a frame's scheduled and actual send time, in milliseconds.
        var latenessP50: Double
        var latenessP99: Double
        var latenessMax: Double
        var isBehind: Bool
    }

    struct Calls: Sendable, Codable {
        var ended: Int
        var cut: Int
        var connectionsDied: Int
        var errorReplies: Int
        /// From the disconnection until all members are ready again, in milliseconds.
        var rejoinP50: Double
        var rejoinP99: Double
    }

    struct BargeIns: Sendable, Codable {
        var count: Int
        /// From the user's first frame to the arrival of the assistant's last, in milliseconds.
        var p50: Double
        var p99: Double
    }

    struct SlowListeners: Sendable, Codable {
        var stops: Int
        var received: Int
        var lost: Int
        /// Age of received frames in milliseconds, and the share (0…1) that was older than 200 ms, the gateway's limit for live audio.
        var p50: Double
        var p99: Double
        var over200: Double
    }

    struct Bucket: Sendable, Codable {
        var upToMilliseconds: Double
        var count: Int
    }

    var scenario: Scenario
    var seconds: Double
    var joins: Joins
    var calls: Calls
    var frames: Frames
    var latency: Latency
    var quality: Quality
    /// Nil without `--server-pid`.
    var server: Server?
    var generator: Generator
    var bargeIns: BargeIns?
    var slowListeners: SlowListeners?
    var problems: [String]
    var timeline: [Timeline.Point]
    var histogram: [Bucket]
}

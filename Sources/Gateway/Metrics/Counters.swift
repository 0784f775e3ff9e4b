package import Backend
internal import Engine
package import Sockets
internal import Synchronization
internal import Wire

/// The counters of one shard: plain integers on its thread, copied to the metrics board once a second.
package struct Counters: Sendable {
    package var connections = 0
    /// Of connections that never reach the shard.
    package var loop = LoopCounters()
    package var mailboxMessagesDropped: UInt64 = 0
    package var rooms = 0
    package var participants = 0
    /// Participants whose socket is lost and whose session may be resumed.
    package var participantsAway = 0
    package var channels = 0
    package var tracks = 0
    /// Queued frames in the store.
    package var framesHeld = 0
    /// Tracks of mode `ahead` that are published or subscribed to here, and the bytes of frames they hold.
    package var aheadTracks = 0
    package var aheadBytesHeld = 0
    /// Tracks whose latest frames are kept for agents that are on their way.
    package var earlierTracks = 0
    package var earlier = EarlierCounters()
    package var framesIn: UInt64 = 0
    package var bytesIn: UInt64 = 0
    package var framesOut: UInt64 = 0
    package var bytesOut: UInt64 = 0
    /// Messages of more than one frame, and the frames in them.
    package var bundlesOut: UInt64 = 0
    package var bundledFramesOut: UInt64 = 0
    /// Frames that were queued before they were sent.
    package var framesQueued: UInt64 = 0
    /// By `DropReason.rawValue`.
    package var dropped = [UInt64](repeating: 0, count: DropReason.allCases.count)
    package var malformed: [String: UInt64] = [:]
    package var controlIn: UInt64 = 0
    package var controlOut: UInt64 = 0
    package var requestsRefused: [String: UInt64] = [:]
    /// Refused upgrades, by error code.
    package var joinsRefused: [String: UInt64] = [:]
    /// Refused HTTP requests, by error code.
    package var httpRefused: [String: UInt64] = [:]
    package var http = HTTPCounters()
    package var joins: UInt64 = 0
    var resumes: [ResumeOutcome: UInt64] = [:]
    /// From the upgrade request to `hello`.
    package var joinSeconds = Histogram(bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1])
    package var closed: [UInt16: UInt64] = [:]
    /// Pings sent as delivery probes.
    package var probesSent: UInt64 = 0
    /// Audit events that did not fit into the queue.
    package var auditEventsLost: UInt64 = 0
    /// Frames missing from recordings because the disk could not keep up.
    package var recordingFramesLost: UInt64 = 0
    /// The share of time for which the shard's thread uses a processor, from 0 to 1, smoothed.
    package var busyRatio = 0.0
    /// How late the shard's timer fired, in seconds; everything else on this thread was as late.
    package var loopLagSeconds = Histogram(bounds: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5])

    package init() {}
}

/// Frames of users that were kept for agents on their way.
package struct EarlierCounters: Sendable {
    package var kept: UInt64 = 0
    /// Sent to an agent; a frame may be sent to several.
    package var sent: UInt64 = 0
    /// Replaced by newer ones or too old, before an agent came.
    package var replaced: UInt64 = 0
    /// No agent came: its job, the track or the memory for it ended.
    package var discarded: UInt64 = 0
}

/// HTTP counters of one shard.
package struct HTTPCounters: Sendable {
    struct Outcome: Hashable, Sendable {
        /// Empty if no route matched.
        var route: String
        var status: Int
    }

    private(set) var requests: [Outcome: UInt64] = [:]
    /// By route, in seconds, from the complete request to its response.
    private(set) var secondsOfRoute: [String: Double] = [:]
    private(set) var seconds = Histogram(bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5])

    mutating func count(route: String?, status: Int, seconds: Double) {
        let route = route ?? ""
        requests[Outcome(route: route, status: status), default: 0] += 1
        secondsOfRoute[route, default: 0] += seconds
        self.seconds.add(seconds)
    }
}

/// The latest counters of all shards: published by each once a second and on request, read by `/metrics`.
package final class MetricsBoard: Sendable {
    private let shards: Mutex<[Counters]>

    package init(shardCount: Int) {
        shards = Mutex(Array(repeating: Counters(), count: shardCount))
    }

    package func publish(_ counters: Counters, ofShard index: Int) {
        shards.withLock { $0[index] = counters }
    }

    package var snapshot: [Counters] {
        shards.withLock { $0 }
    }
}

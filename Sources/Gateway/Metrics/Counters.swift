package import Backend
internal import Engine
package import Sockets
internal import Wire

/// The counters of one shard: plain integers on its thread, copied to the metrics board once a second.
package struct Counters: Sendable {
    package var connections = 0
    package var connectionsTurnedAway: UInt64 = 0
    package var handshakesAbandoned: UInt64 = 0
    /// Times a listener paused because descriptors or memory ran out.
    package var acceptFailures: UInt64 = 0
    /// Connections closed for their PROXY header.
    package var proxyHeadersRefused: [ProxyHeader.Fault: UInt64] = [:]
    /// Requests of proxies with an `X-Forwarded-For` that is no list of addresses.
    package var forwardedForMalformed: UInt64 = 0
    package var rooms = 0
    package var participants = 0
    /// Participants whose socket is lost and whose session may be resumed.
    package var participantsAway = 0
    /// Call channels.
    package var devices = 0
    package var tracks = 0
    /// Queued frames in the store.
    package var framesHeld = 0
    /// Tracks of mode `ahead` that are published or subscribed to here, and the bytes of frames they hold.
    package var aheadTracks = 0
    package var aheadBytesHeld = 0
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
    package var malformed: [String: UInt64] = Dictionary(uniqueKeysWithValues: FrameError.allCases.map { ($0.rawValue, 0) })
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
    package var receiptsAsked: UInt64 = 0
    /// Audit events that did not fit into the queue.
    package var auditEventsLost: UInt64 = 0
    /// Frames missing from recordings because the disk could not keep up.
    package var recordingFramesLost: UInt64 = 0
    /// How late the shard's timer fired, in seconds; everything else on this thread was as late.
    package var loopLagSeconds = Histogram(bounds: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5])

    package init() {}
}

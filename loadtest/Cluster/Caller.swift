import Foundation
import Identity
import Sockets
import Wire

/// One participant of a call, with its connection and what it remembers across connections.
final class Caller {
    enum Phase {
        /// Connects at this time.
        case waiting(until: UInt64)
        case connecting(since: UInt64)
        /// `hello` was received.
        case joined
        /// The run is over.
        case left
    }

    /// The first delays before a new attempt, in milliseconds; the last one repeats.
    private static let delays = [50, 100, 200, 400, 1_000]

    let index: Int
    let call: Int
    let identity: String
    let authorization: String

    var phase = Phase.waiting(until: .max)
    var connection: Connection?
    /// The node of the current or last connection, and the room's home.
    private(set) var entry: Int
    /// From one node to the next in its list. Not the same for all, because the clients of a dead node would all go to the same next one.
    private let step: Int
    var home = ""
    private var attempts = 0

    // Resuming.
    var resumeToken: String?
    var lastEvent: UInt64 = 0
    /// When the connection was lost; 0 while there is one, and before the first.
    var lostAt: UInt64 = 0
    /// It did not return in time, and is counted.
    var isGivenUp = false
    /// Events were missed before the `hello` of this connection, which is right only if that is a snapshot.
    var hasSkippedEvents = false

    // Own state at the gateway: the track, and a counter in the attributes.
    var track: TrackAlias?
    var isPublished = false
    var counter: UInt64 = 0
    var acknowledged: UInt64 = 0
    /// The other one's counter, as last seen here.
    var othersCounter: UInt64 = 0

    // Media.
    var sent: UInt32 = 0
    var startsTalkspurt = true
    var received: UInt32 = 0
    var lastFrameAt: UInt64 = 0

    // Liveness.
    var lastSignAt: UInt64 = 0
    var unansweredSince: UInt64?

    init(index: Int, room: String, nodes: Int, signer: IssuerKey) throws {
        self.index = index
        call = index / 2
        entry = index % nodes
        step = index / 2 % 2 == 0 ? 1 : nodes - 1
        let isAgent = index % 2 == 1
        identity = isAgent ? "agent" : "user"
        var grant = VideoGrant.joining(room)
        grant.canUpdateOwnMetadata = true
        let token = AccessToken(
            identity: identity, expires: Int64(Date().timeIntervalSince1970) + 21_600, kind: isAgent ? .agent : .standard, video: grant)
        authorization = try "Bearer \(TokenMinter.mint(token, with: signer))"
    }

    var isJoined: Bool {
        if case .joined = phase { true } else { false }
    }

    var hasLeft: Bool {
        if case .left = phase { true } else { false }
    }

    /// The path of the next connection.
    var path: String {
        resumeToken.map { "/v1/rtc?resume=\($0)&last_seq=\(lastEvent)" } ?? "/v1/rtc"
    }

    /// Waits for the next attempt, at the next node that may be used.
    ///
    /// - Parameters:
    ///   - usable: for each node, whether it may be used; at least one may.
    ///   - isAsked: the gateway has asked for it, so that the first attempt follows at once.
    func backOff(at now: UInt64, usable: [Bool], isAsked: Bool) {
        let isAtOnce = isAsked && attempts == 0
        let milliseconds = isAtOnce ? 0 : Double(Self.delays[min(attempts, Self.delays.count - 1)]) * .random(in: 0.75...1.25)
        attempts += 1
        repeat { entry = (entry + step) % usable.count } while !usable[entry]
        connection = nil
        phase = .waiting(until: now + UInt64(milliseconds * 1e6))
    }

    func joined(at now: UInt64) {
        phase = .joined
        attempts = 0
        lostAt = 0
        isGivenUp = false
        hasSkippedEvents = false
        startsTalkspurt = true
        alive(at: now)
    }

    /// The gateway knows nothing of it any more.
    func forget() {
        resumeToken = nil
        lastEvent = 0
        track = nil
        isPublished = false
        acknowledged = 0
        othersCounter = 0
    }

    func alive(at now: UInt64) {
        lastSignAt = now
        unansweredSince = nil
    }
}

internal import Sockets
internal import Wire

/// One room of ours, on the loop's thread: its socket, its requests on the way, its tracks.
///
/// The rest is in extensions by what happens: `+Link` (connecting, losing, coming back), `+Requests`, `+Messages` (what the gateway
/// says), `+Frames`.
final class RoomSession {
    enum Phase {
        /// A socket is being made, or `hello` has not come yet.
        case connecting(until: Instant)
        case open
        /// The line was lost; there will be another attempt.
        case resting(until: Instant)
        case leaving(until: Instant)
        case ended
    }

    /// Who waits for an answer of the gateway.
    enum Waiter {
        case caller(Answer)
        case publisher(PublishTrack, Publication)
        case unpublisher(track: Int, Answer)
        case clearer(TrackSID, Answer)
        case republisher(track: Int)
        case ping(sentAt: Instant)
    }

    let plan: RoomPlan
    unowned let thread: LoopThread
    var phase = Phase.ended
    var connection: Connection?
    /// What the next attempt to come back shows: the newest one that the gateway gave us.
    var token: String
    /// How to take our place back; nil before the first `hello`.
    var claim: ResumeClaim?
    /// Who waits for the first `hello`.
    var opening: Opening?
    var leavers: [CheckedContinuation<Void, Never>] = []
    /// The number of the attempt to come back; 0 while all is well.
    var attempt = 0
    /// Who we are in the room.
    var identity: Identity?

    var pending = PendingRequests<Waiter>()
    var heartbeat: Heartbeat?
    var queue = SendQueue()
    /// Frames of `ahead` tracks: late is better than lost, so they have room for as far ahead as one may be.
    var aheadQueue = SendQueue(limit: SendQueue.aheadFramesMax)
    var remote = RemoteTracks()
    var published: [Int: PublishedTrack] = [:]
    /// What was asked for beyond the default, to be asked for again after a reconnect.
    var subscriptions: [TrackSID: Bool] = [:]
    var agentState: AgentState?

    init(_ plan: RoomPlan, opening: Opening, thread: LoopThread) {
        self.plan = plan
        self.token = plan.token
        self.opening = opening
        self.thread = thread
    }

    var id: Int { plan.door.id }
    var mirror: RoomMirror { plan.door.mirror }

    func handle(_ command: RoomCommand) {
        switch command {
        case .ask(let request, let timeout, let answer): ask(request, timeout: timeout, .caller(answer))
        case .tell(let request): tell(request)
        case .publish(let track, let timeout, let publication): ask(.publish(track), timeout: timeout, .publisher(track, publication))
        case .unpublish(let track, let timeout, let answer): unpublish(track, timeout: timeout, answer)
        case .mute(let track, let muted, let timeout, let answer): mute(track, muted, timeout: timeout, answer)
        case .clear(let track, let reason, let timeout, let answer): clear(track, reason, timeout: timeout, answer)
        case .mark(let track, let time, let name, let timeout, let answer): mark(track, time, name, timeout: timeout, answer)
        case .locate(let track, let place): place.resume(returning: published[track]?.numbering.end)
        case .send(let frame, let track): send(frame, track: track)
        case .listen(let sid, let sink): listen(to: sid, sink)
        case .leave(let reason, let done): leave(reason: reason, done: done)
        case .cut: connection?.abort()
        }
    }

    /// Tells the room's reader.
    func emit(_ event: RoomEvent) {
        if case .dropped = plan.events.yield(event) { mirror.count { $0.eventsOverflowed += 1 } }
    }

    /// Something came: the line lives.
    func heard() {
        heartbeat?.heard(at: thread.now)
    }

    // MARK: Time

    /// When `tick` is needed; nil if never.
    var deadline: Instant? {
        switch phase {
        case .connecting(let until), .resting(let until), .leaving(let until): until
        case .open: [heartbeat?.deadline, pending.deadline, hasWaiting ? thread.now + Self.pumpInterval : nil].compactMap(\.self).min()
        case .ended: nil
        }
    }

    func tick(at now: Instant) {
        for waiter in pending.takeExpired(at: now) { fail(waiter, .timedOut) }
        switch phase {
        case .connecting(let until): if now >= until { connectingTookTooLong() }
        case .resting(let until): if now >= until { connect() }
        case .leaving(let until): if now >= until { cutOffLeaving() }
        case .open:
            pump()
            switch heartbeat?.verdict(at: now) {
            case .ping: ping(at: now)
            case .dead:
                connection?.abort()
                lost(.pingTimeout)
            case .nothing, nil: break
            }
        case .ended: break
        }
    }
}

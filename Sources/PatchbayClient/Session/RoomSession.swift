internal import Sockets
internal import Wire

/// One room of ours, on the loop's thread: its requests on the way, its tracks.
///
/// The rest is in extensions by what happens: `+Requests`, `+Messages` (what the gateway says), `+Frames`, `+Playout`. Its socket is
/// `Line`'s.
final class RoomSession: Line {
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
    /// How to take our place back; nil before the first `hello`.
    var claim: ResumeClaim?
    /// Who waits for the first `hello`.
    var opening: Opening?
    /// Who we are in the room.
    var identity: Identity?

    var pending = PendingRequests<Waiter>()
    var queue = SendQueue()
    /// Frames of `ahead` tracks: late is better than lost, so they have room for as far ahead as one may be.
    var aheadQueue = SendQueue(limit: SendQueue.aheadFramesMax)
    var remote = SubscribedTracks()
    var published: [Int: PublishedTrack] = [:]
    /// What was asked for beyond the default, to be asked for again after a reconnect.
    var subscriptions: [TrackSID: Bool] = [:]
    var agentState: AgentState?

    init(_ plan: RoomPlan, opening: Opening, thread: LoopThread) {
        self.plan = plan
        self.opening = opening
        super.init(id: plan.door.id, address: plan.address, token: plan.token, options: plan.options, thread: thread)
    }

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

    // MARK: As a line

    /// How long an attempt to take our place back may take: the place is kept for 20 s, and there is to be time for more than one.
    private static let resumeTimeout = Duration.seconds(5)

    override var endpoint: Endpoint { address.endpoint(token: token, autoSubscribe: options.autoSubscribe, resuming: claim) }
    override var patience: Duration { claim == nil ? options.connectTimeout : min(options.connectTimeout, Self.resumeTimeout) }
    override var workDeadline: Instant? {
        [pending.deadline, hasWaiting ? thread.now + Self.pumpInterval : nil].compactMap(\.self).min()
    }

    override func received(text: [UInt8]) { take(text: text) }
    override func received(binary message: UnsafeRawBufferPointer) { take(binary: message) }
    override func pump() { sendWaiting() }

    override func expireRequests(at now: Instant) {
        for waiter in pending.takeExpired(at: now) { fail(waiter, .timedOut) }
    }

    override func ping(at now: Instant) {
        ask(.ping(Int64(now.nanoseconds)), timeout: options.requestTimeout, .ping(sentAt: thread.loop.exactNow))
    }

    override func sayPendingClose(_ reason: String?) {
        pump()
        connection?.write(text: OutgoingRequest(.leave(reason: reason)).bytes)
    }

    /// Our tracks stay: we may get our place back.
    override func dropped() {
        let unsent = queue.removeAll() + aheadQueue.removeAll()
        mirror.count { $0.framesUnsent += UInt64(unsent) }
        for waiter in pending.takeAll() { fail(waiter, .notConnected) }
    }

    override func comesBack(attempt: Int, after delay: Duration, because reason: Disconnection) {
        emit(.reconnecting(attempt: attempt, delay: delay, because: reason))
    }

    override func opened(failing error: ConnectError) {
        opening?.resume(returning: .failure(error))
        opening = nil
    }

    override func ended(_ reason: Disconnection) {
        remote.finishAll()
        published.removeAll()
        plan.procedures.cancelAll()
        mirror.update { $0.disconnection = reason }
        emit(.disconnected(reason))
        plan.events.finish()
    }
}

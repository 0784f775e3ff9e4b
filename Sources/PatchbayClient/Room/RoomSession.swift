internal import NIOCore
internal import Wire

typealias RoomHandle = SessionHandle<RoomSession, RoomState>

struct RoomState: SessionState {
    var hello: Hello?
    var snapshot: RoomSnapshot?
    var statistics = RoomStatistics()
    var disconnection: Disconnection?
}

/// One joined room: its pending requests, published tracks and subscriptions. Bound to its event loop; `RoomHandle` is its thread-safe side.
///
/// The extensions hold requests and their replies (`+Requests`), and media (`+Media`).
final class RoomSession: ReconnectingSocket {
    typealias Reply = CheckedContinuation<Result<ReplyFields, RequestFailure>, Never>
    typealias Publication = CheckedContinuation<Result<LocalTrack, RequestFailure>, Never>

    /// What to do with the reply to a request.
    enum Waiter {
        case caller(Reply)
        case publisher(PublishTrack, Publication)
        case unpublisher(track: Int, Reply)
        case clearer(TrackSID, Reply)
        case republisher(track: Int)
        case subscriber(TrackSID, subscribed: Bool, Reply?)
        case agentState(AgentState, Reply)
        case holder(Bool, Reply)
        case ping(sentAt: Instant)
    }

    /// What to send again on a new connection: requests that the gateway has accepted, and responses that could not be sent yet.
    struct Restorable {
        var subscriptions: [TrackSID: Bool] = [:]
        var agentState: AgentState?
        var isOnHold = false
        /// Responses to calls of procedures, for a resume.
        var answers: [ProcedureAnswer] = []
    }

    /// Timeout of one attempt to resume: the gateway keeps a session for 20 s, which should allow several attempts.
    private static let resumeTimeout = Duration.seconds(5)

    let room: RoomHandle
    let procedures: ProcedureHandlers
    private let events: AsyncStream<RoomEvent>.Continuation
    /// Nil before the first `hello`, or if the gateway does not support resuming.
    var claim: ResumeClaim?
    var pending = PendingRequests<Waiter>()
    var sendQueues = MediaSendQueues()
    var remote = SubscribedTracks()
    /// Tracks of the local participant, by `LocalTrack.id`.
    var published: [Int: PublishedTrack] = [:]
    var restorable = Restorable()

    init(
        room: RoomHandle, address: GatewayAddress, token: String, tls: TLSContext, events: AsyncStream<RoomEvent>.Continuation,
        procedures: ProcedureHandlers, opening: Opening
    ) {
        self.room = room
        self.events = events
        self.procedures = procedures
        super.init(
            address: address, token: token, options: room.options, tls: tls, eventLoop: room.eventLoop, opening: opening)
    }

    func emit(_ event: RoomEvent) {
        if case .dropped = events.yield(event) { room.count { $0.eventsOverflowed += 1 } }
    }

    // MARK: ReconnectingSocket

    override var requestTarget: String { address.roomTarget(autoSubscribe: options.autoSubscribe, resuming: claim) }
    override var attemptTimeout: Duration { claim == nil ? options.connectTimeout : min(options.connectTimeout, Self.resumeTimeout) }
    override var workDeadline: Instant? {
        [pending.deadline, sendQueues.isEmpty ? nil : now + Self.sendQueueInterval].compactMap(\.self).min()
    }

    override func receive(text: [UInt8]) { handle(message: text) }
    override func receive(binary message: UnsafeRawBufferPointer) { handle(media: message) }
    override func sendQueued() { sendQueuedFrames() }

    override func expireRequests(at now: Instant) {
        for waiter in pending.takeExpired(at: now) { fail(waiter, .timedOut) }
    }

    override func sendPing(at now: Instant) {
        send(.ping(Int64(now.nanoseconds)), timeout: options.requestTimeout, .ping(sentAt: now))
    }

    override func sendLeave(reason: String?) {
        sendQueuedFrames()
        connection?.send(text: OutgoingRequest(.leave(reason: reason)).bytes)
    }

    /// Published tracks stay: the session may be resumed.
    override func didDisconnect() {
        let unsent = sendQueues.removeAll()
        room.count { $0.framesUnsent += UInt64(unsent) }
        for waiter in pending.takeAll() { fail(waiter, .notConnected) }
    }

    override func willReconnect(attempt: Int, after delay: Duration, because reason: Disconnection) {
        emit(.reconnecting(attempt: attempt, delay: delay, because: reason))
    }

    override func didEnd(_ reason: Disconnection) {
        remote.finishAll()
        published.removeAll()
        procedures.cancelAll()
        room.update { $0.disconnection = reason }
        emit(.disconnected(reason))
        events.finish()
        room.release()
    }
}

/// Messages of the gateway.
extension RoomSession {
    func handle(message text: [UInt8]) {
        didReceiveActivity()
        guard let message = try? ServerMessage(parsing: text) else { return room.count { $0.messagesUnread += 1 } }
        switch message {
        case .reply(let id, let fields): handleReply(id, fields)
        case .error(let id?, let error): handleError(id, error)
        case .error(nil, _): room.count { $0.messagesUnread += 1 }
        case .event(.hello(let hello), let seq): handleHello(hello, seq: seq)
        case .event(let event, let seq): handleEvent(event, seq: seq)
        case .unknownEvent(let type, let seq):
            claim?.lastSeq = seq
            room.count { $0.eventsReceived += 1 }
            emit(.unknown(type: type, seq: seq))
        }
    }

    private func handleHello(_ hello: Hello, seq: UInt64) {
        let isReconnect = attempts.number > 0
        let isResumed = isReconnect && hello.resumed == true
        // Otherwise the missed events were replayed before this `hello`.
        let isWholeState = !isResumed || hello.snapshot == true
        claim = hello.resumeToken.isEmpty ? nil : ResumeClaim(token: hello.resumeToken, lastSeq: seq)
        didOpen(
            Heartbeat(
                interval: .milliseconds(max(hello.pingIntervalMs, 100)), timeout: .milliseconds(max(hello.pingTimeoutMs, 1_000)),
                pongTimeout: options.reconnect == .backOff && claim != nil ? Heartbeat.defaultPongTimeout : nil, now: now),
            nodes: hello.nodes)
        let before = room.update { state in
            let before = state.snapshot
            state.hello = hello
            if isWholeState { state.snapshot = RoomSnapshot(hello) }
            state.statistics.eventsReceived += 1
            if isReconnect { state.statistics.reconnects += 1 }
            return before
        }
        if isWholeState {
            remote.replace(with: hello.participants.flatMap { $0.tracks ?? [] })
            pruneSubscriptions()
        }
        if isResumed, isWholeState {
            for event in before?.changes(to: RoomSnapshot(hello)) ?? [] { emit(.gateway(event, seq: seq)) }
        }
        emit(.gateway(.hello(hello), seq: seq))
        completeOpening()
        if isReconnect {
            emit(.reconnected)
            if isResumed { reconcile(with: hello.participant.tracks ?? [], isWholeState: isWholeState) } else { restore() }
        }
    }

    private func handleEvent(_ event: Event, seq: UInt64) {
        claim?.lastSeq = seq
        room.update { state in
            state.snapshot?.apply(event)
            state.statistics.eventsReceived += 1
        }
        switch event {
        case .participantJoined(let info), .agentJoined(let info): for track in info.tracks ?? [] { remote.add(track) }
        case .trackPublished(let track): if track.participant != room.current.hello?.participant.identity { remote.add(track) }
        case .trackUnpublished(let sid, _):
            remote.remove(sid)
            restorable.subscriptions[sid] = nil
        case .participantLeft(let identity, _):
            remote.removeAll(of: identity)
            pruneSubscriptions()
        case .talkEarlier(_, let track, _, let live): remote.expectEarlierFrames(of: track, until: live)
        case .callResumed(let identity): if identity == room.current.hello?.participant.identity { restorable.isOnHold = false }
        case .tokenRefreshed(let newer, _): token = newer
        case .playoutCleared(let cut, _): didClear(cut.track, epoch: cut.epoch)
        case .procedureCalled(let id, let caller, let method, let payload, let timeout):
            procedures.handle(
                ProcedureInvocation(id: id, caller: caller, method: method, payload: payload, timeout: .milliseconds(timeout)),
                room: room)
        default: break
        }
        emit(.gateway(event, seq: seq))
    }

    /// Forgets the subscriptions to tracks that have ended.
    private func pruneSubscriptions() {
        restorable.subscriptions = restorable.subscriptions.filter { remote.contains($0.key) }
    }
}

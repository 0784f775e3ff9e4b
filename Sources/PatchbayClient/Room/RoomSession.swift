internal import NIOCore
internal import Wire

/// One joined room: its pending requests, published tracks and subscriptions. Bound to its event loop; `RoomHandle` is its thread-safe side.
///
/// The extensions hold what the gateway sends (`+Events`), requests and their replies (`+Requests`), and media (`+Media`).
final class RoomSession: ReconnectingSocket {
    typealias Opening = CheckedContinuation<Result<Void, ConnectError>, Never>
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
    private var opening: Opening?
    /// Nil before the first `hello`, or if the gateway does not support resuming.
    var claim: ResumeClaim?
    var pending = PendingRequests<Waiter>()
    var sendQueues = MediaSendQueues()
    var remote = SubscribedTracks()
    /// Tracks of the local participant, by `LocalTrack.id`.
    var published: [Int: PublishedTrack] = [:]
    var restorable = Restorable()

    init(
        room: RoomHandle, address: GatewayAddress, token: String, options: RoomOptions, tls: TLSContext,
        events: AsyncStream<RoomEvent>.Continuation, procedures: ProcedureHandlers, opening: Opening
    ) {
        self.room = room
        self.events = events
        self.procedures = procedures
        self.opening = opening
        super.init(address: address, token: token, options: options, tls: tls, eventLoop: room.eventLoop)
    }

    func emit(_ event: RoomEvent) {
        if case .dropped = events.yield(event) { room.count { $0.eventsOverflowed += 1 } }
    }

    /// The first `hello` has arrived.
    func completeOpening() {
        opening?.resume(returning: .success(()))
        opening = nil
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

    override func initialAttemptFailed(_ error: ConnectError) {
        opening?.resume(returning: .failure(error))
        opening = nil
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

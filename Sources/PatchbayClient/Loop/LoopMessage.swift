internal import Wire

/// What crosses from callers to the loop's thread.
enum LoopMessage: Sendable {
    case open(RoomPlan, Opening)
    case room(Int, RoomCommand)
    case openChannel(ChannelPlan, ChannelOpening)
    case channel(Int, ChannelCommand)
    case stop
}

typealias Opening = CheckedContinuation<Result<Hello, ConnectError>, Never>
typealias Answer = CheckedContinuation<Result<ReplyFields, RequestFailure>, Never>
typealias Publication = CheckedContinuation<Result<LocalTrack, RequestFailure>, Never>

/// All that a room's session is made from.
struct RoomPlan: Sendable {
    var door: RoomDoor
    var address: GatewayAddress
    var token: String
    var options: RoomOptions
    var events: AsyncStream<RoomEvent>.Continuation
    var procedures: ProcedureDesk
}

/// What a caller wants of one room.
enum RoomCommand: Sendable {
    case ask(Request, timeout: Duration, Answer)
    case publish(PublishTrack, timeout: Duration, Publication)
    case unpublish(Int, timeout: Duration, Answer)
    case mute(Int, Bool, timeout: Duration, Answer)
    case clear(Int, reason: String?, timeout: Duration, Answer)
    /// Nil is the end of what has been sent.
    case mark(Int, MediaTime?, name: String, timeout: Duration, Answer)
    case send(OutgoingFrame, track: Int)
    case locate(Int, CheckedContinuation<MediaTime?, Never>)
    case listen(TrackSID, FrameSink)
    /// Something that wants no answer.
    case tell(Request)
    case leave(reason: String?, done: CheckedContinuation<Void, Never>?)
    /// Ends the socket without a word, as a broken cable would.
    case cut
}

/// Where a listener wants a track's frames.
enum FrameSink: Sendable {
    case stream(AsyncStream<ReceivedFrame>.Continuation)
    case inbox(FrameInbox)

    enum Outcome {
        case taken
        /// Taken, but an older one had to go for it.
        case overflowed
        /// The listener has gone.
        case gone
    }

    func put(_ frame: ReceivedFrame) -> Outcome {
        switch self {
        case .stream(let stream):
            switch stream.yield(frame) {
            case .enqueued: .taken
            case .dropped: .overflowed
            case .terminated: .gone
            @unknown default: .taken
            }
        case .inbox(let inbox): inbox.put(frame)
        }
    }

    /// Frames say their epoch themselves; a player wants to know at once.
    func clear(epoch: UInt8) {
        if case .inbox(let inbox) = self { inbox.clear(epoch: epoch) }
    }

    func finish() {
        switch self {
        case .stream(let stream): stream.finish()
        case .inbox(let inbox): inbox.finish()
        }
    }
}

internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Sockets
internal import Wire

/// Messages that other threads post to a shard's mailbox.
enum ShardMessage: Sendable {
    // From the gateway.
    case drain(deadline: Duration, wallClock: Int64)
    case reloadKeys(KeyRing)
    case reloadCertificate(TLSFiles)

    /// During a drain: that shard has no participants, channels or requests any more.
    case emptied(shard: Int)

    // To a room's home shard, from the shard that serves the participant's socket.
    case joined(ParticipantHandle, JoinRequest)
    case input(Room.Input, from: ParticipantHandle)
    /// Acknowledged by `slotReleased`: until then frames and events may be in transit to the slot, which must not be reused.
    case left(ParticipantHandle, DisconnectReason)

    // From a room's home shard.
    case deliver(EncodedEvent, to: [ParticipantHandle], isReplay: Bool)
    /// An effect on a participant's socket or on a track's frames.
    case effect(Room.Effect)
    case slotReleased(ParticipantHandle)

    /// From the shard of a lost socket to the shard of its successor; nil if there is no state to hand over any more.
    case takeOver(ParticipantHandle, SessionHandover?)
    /// The queue of an `ahead` track that is published on this shard from now on; precedes `takeOver`.
    case takeAhead(AheadTrack)

    /// From HTTP handlers and services, which run on other threads.
    case request(ShardRequest)
    /// Whether a join with this request's token would be admitted.
    case validate(HTTPServerRequest, QueryReply<Result<JoinRequest, HTTPError>>)
    /// The response to an open HTTP request of this shard.
    case respond(RoutedResponse, number: Int)

    case cluster(ClusterOrder)
}

extension ShardMessage {
    /// Whether a full mailbox drops the message; the shard then starts over (`Shard.startOver`).
    ///
    /// The others keep shards in agreement about slots and sessions, or are commands. There are a few per connection, open request, session and
    /// call; joins, of which each can be followed by others, are refused by a full mailbox.
    fileprivate var isDroppable: Bool {
        switch self {
        case .drain, .reloadKeys, .reloadCertificate, .emptied, .cluster: false
        case .request(.query(.command, _)), .request(.query(.open, _)), .request(.query(.callProcedure, _)): false
        case .joined, .left, .slotReleased, .takeOver, .takeAhead, .respond: false
        case .input(.connectionLost, _), .input(.resumeConfirmed, _), .effect(.close), .effect(.handOver): false
        case .input, .effect, .deliver, .request, .validate: true
        }
    }
}

extension Mailbox<ShardMessage> {
    /// Posts a message by its policy.
    ///
    /// - Returns: whether it is the first that is dropped because the shard does not read.
    @discardableResult
    func send(_ message: ShardMessage) -> Bool {
        if message.isDroppable { return post(droppable: message) }
        post(message)
        return false
    }
}

/// The state that moves from a participant's old slot to its new one on resume.
struct SessionHandover: Sendable {
    var log: EventLog
    let framesSent: UInt64
    let framesDropped: UInt64
    /// The log begins with the restoration of the room on this node: earlier events cannot be replayed.
    var isRestored = false

    init(of participant: ParticipantConnection) {
        log = participant.session.log
        framesSent = participant.statistics.framesSent
        framesDropped = participant.statistics.framesDropped
    }

    /// For a participant whose connection was on another node.
    init(restored log: EventLog) {
        (self.log, framesSent, framesDropped, isRestored) = (log, 0, 0, true)
    }
}

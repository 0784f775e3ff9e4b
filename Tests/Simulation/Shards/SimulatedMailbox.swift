internal import Engine
internal import Wire

/// A message between shards, as the gateway's `ShardMessage`.
enum ShardMessage {
    case joined(ParticipantHandle, JoinTicket)
    case input(Room.Input, of: ParticipantHandle)
    case left(ParticipantHandle, DisconnectReason)
    case deliver(EncodedEvent, to: [ParticipantHandle], isReplay: Bool)
    case effect(Room.Effect)
    case slotIsFree(ParticipantHandle)
    case takeOver(ParticipantHandle, SessionHandover?)
    case takeAhead(AheadTrack)
    case administer(String, Room.AdminCommand)
}

/// A FIFO mailbox.
final class SimulatedMailbox {
    private var messages: [ShardMessage] = []

    var count: Int { messages.count }

    func post(_ message: ShardMessage) {
        messages.append(message)
    }

    func drain() -> [ShardMessage] {
        defer { messages = [] }
        return messages
    }
}

/// Admission of an upgrade request.
struct JoinTicket {
    var admission: Admission
    /// The last event received before a resume.
    var lastSeq: UInt64?
    var room: String
    var settings: RoomSettings

    var withoutClaim: JoinTicket {
        var ticket = self
        ticket.admission.resuming = ""
        ticket.lastSeq = nil
        return ticket
    }
}

/// Frames in flight from one shard to another.
final class SimulatedTrunk {
    var bytesMax: Int
    private var frames: [Frame] = []
    private(set) var bytes = 0

    struct Frame {
        let publisher: ParticipantHandle
        let frame: [UInt8]
    }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    var isEmpty: Bool { frames.isEmpty }

    /// - Returns: whether the frame was accepted, and whether the receiver must be woken.
    func append(_ frame: [UInt8], from publisher: ParticipantHandle, evenIfFull: Bool) -> (isTaken: Bool, needsWake: Bool) {
        guard evenIfFull || bytes + frame.count + 10 <= bytesMax else { return (false, false) }
        frames.append(Frame(publisher: publisher, frame: frame))
        bytes += frame.count + 10
        return (true, frames.count == 1)
    }

    func take() -> [Frame] {
        defer {
            frames = []
            bytes = 0
        }
        return frames
    }
}

internal import Engine
internal import Wire

/// What comes through a shard's door, as `ShardMessage` has it.
enum Mail {
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

/// First in, first out.
final class SimulatedMailbox {
    private var messages: [Mail] = []

    var count: Int { messages.count }

    func post(_ message: Mail) {
        messages.append(message)
    }

    func drain() -> [Mail] {
        defer { messages = [] }
        return messages
    }
}

/// What was found out before the upgrade.
struct JoinTicket {
    var admission: Admission
    /// The last event that whoever wants to resume has got.
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

/// Frames on their way from one shard to another.
final class SimulatedTrunk {
    var bytesMax: Int
    private var frames: [Carried] = []
    private(set) var bytes = 0

    struct Carried {
        let publisher: ParticipantHandle
        let frame: [UInt8]
    }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    var isEmpty: Bool { frames.isEmpty }

    /// - Returns: whether the frame was taken, and whether the other side has to be woken for it.
    func append(_ frame: [UInt8], from publisher: ParticipantHandle, evenIfFull: Bool) -> (isTaken: Bool, needsWake: Bool) {
        guard evenIfFull || bytes + frame.count + 10 <= bytesMax else { return (false, false) }
        frames.append(Carried(publisher: publisher, frame: frame))
        bytes += frame.count + 10
        return (true, frames.count == 1)
    }

    func take() -> [Carried] {
        defer {
            frames = []
            bytes = 0
        }
        return frames
    }
}

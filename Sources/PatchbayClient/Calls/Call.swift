public import Wire

/// A call as this device has it, in the terms that call screens (CallKit, ConnectionService) use.
///
/// A value: it is what was known when it was handed out. `CallBook` has the newest. What one that a `CallChannel` handed out is asked to
/// do, it asks of the gateway; two are equal if the same is known of the same call.
public struct Call: Sendable, Hashable {
    public enum Direction: Sendable, Hashable {
        case incoming, outgoing
    }

    public enum State: Sendable, Hashable {
        /// It rings, here or at the other side.
        case connecting
        case active
        /// We have put it on hold, or everybody else has.
        case held
        case ended(CallEnding)
    }

    /// The whole call, with all its members.
    public internal(set) var info: CallInfo
    /// Whose device this is.
    public let user: Identity
    /// This device called or answered, or has taken the call over.
    var isHere: Bool
    /// It was this device's, until another one of the same user took it over.
    var hasMoved = false
    /// The way to the gateway; nil for a call of a book that no channel keeps.
    var door: ChannelDoor?

    init(info: CallInfo, user: Identity, isHere: Bool) {
        self.info = info
        self.user = user
        self.isHere = isHere
    }

    /// Whose device this is, as calls name it.
    public var party: CallParty { CallParty(user) }
    public var id: CallID { info.id }
    public var direction: Direction { info.caller == party ? .outgoing : .incoming }

    public var state: State {
        guard let mine else { return .ended(.failed) }
        switch mine.state {
        case .invited: return .connecting
        case .left: return .ended(CallEnding(mine.status))
        case .joined where !isHere: return .ended(hasMoved ? .movedElsewhere : .answeredElsewhere)
        case .joined where info.status != .answered: return .connecting
        case .joined: return mine.held || isHeldByOthers ? .held : .active
        }
    }

    /// We have put it on hold, whatever the others did.
    public var isHeldByUs: Bool { mine?.held ?? false }
    public var isMuted: Bool { mine?.muted ?? false }

    /// Everybody else who has joined has put the call on hold.
    public var isHeldByOthers: Bool {
        let others = info.members.filter { $0.state == .joined && $0.party != party }
        return !others.isEmpty && others.allSatisfy(\.held)
    }

    var mine: CallMember? { info.member(party) }

    public static func == (one: Call, other: Call) -> Bool {
        one.info == other.info && one.user == other.user && one.isHere == other.isHere && one.hasMoved == other.hasMoved
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(info.id)
        hasher.combine(info.seq)
        hasher.combine(isHere)
    }
}

/// How a call ended for this device.
public enum CallEnding: Sendable, Hashable {
    /// It was answered, and somebody hung up.
    case completed
    /// Taken back by the caller.
    case cancelled
    case rejected
    case busy
    /// Nobody answered in time.
    case unanswered
    /// Another device of the same user has answered it.
    case answeredElsewhere
    /// It was here, and another device of the same user has taken it over.
    case movedElsewhere
    case failed
    /// The channel was lost meanwhile; how it ended is not known.
    case whileAway

    init(_ status: CallStatus) {
        self =
            switch status {
            case .completed: .completed
            case .cancelled: .cancelled
            case .rejected: .rejected
            case .busy: .busy
            case .timeout: .unanswered
            case .started, .ringing, .answered, .failed: .failed
            }
    }
}

public import Wire

/// A call as seen by this device, in the terms of call screens (CallKit, ConnectionService).
///
/// A value: a snapshot of the time when it was returned; `CallList` has the newest. The methods of a call from a `Channel` send requests to
/// the gateway. Two calls are equal if their known state is equal.
public struct Call: Sendable, Hashable {
    public enum Direction: Sendable, Hashable {
        case incoming, outgoing
    }

    public enum State: Sendable, Hashable {
        /// Ringing, on either side.
        case connecting
        case active
        /// On hold by this user or by all others.
        case held
        case ended(CallEnding)
    }

    /// The call with all its members.
    public internal(set) var info: CallInfo
    /// The user of this device.
    public let user: Identity
    /// This device called, answered, or took the call over.
    var isHere: Bool
    /// Another device of the same user took the call over from this one.
    var hasMoved = false
    /// The channel that requests are sent on; nil for a call of a list without a channel.
    var channel: ChannelHandle?

    init(info: CallInfo, user: Identity, isHere: Bool) {
        self.info = info
        self.user = user
        self.isHere = isHere
    }

    /// The user of this device as a call member.
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

    /// Whether this user has put it on hold.
    public var isHeldByUs: Bool { mine?.held ?? false }
    public var isMuted: Bool { mine?.muted ?? false }

    /// Whether all other joined members have put the call on hold.
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

/// Requests about a call. Each returns once the gateway has confirmed it; the effects appear as events, too, and this value does not change.
/// `RequestFailure.ended` is thrown if the channel has ended.
extension Call {
    /// Answers an incoming call. The first device to answer gets it; for the others it ends.
    ///
    /// - Returns: the call's room, joined. Leaving the room leaves the call.
    /// - Throws: `CallFailure`.
    public func answer() async throws(CallFailure) -> RoomConnection {
        try await join(.answer(id))
    }

    /// Rejects an incoming call for all devices of the user.
    ///
    /// - Parameters:
    ///   - busy: reports "busy" instead of "rejected".
    ///   - reason: for the other members, at most 256 bytes.
    public func reject(busy: Bool = false, reason: String? = nil) async throws(RequestFailure) {
        try await request(.reject(id, CallRejection(isBusy: busy, reason: reason)))
    }

    /// Leaves a joined call, or cancels an unanswered outgoing one. The room need not be left.
    public func hangUp() async throws(RequestFailure) {
        try await request(.hangUp(id))
    }

    /// Puts the call on hold, or resumes it. While on hold this user neither sends nor receives audio, whatever its tracks.
    public func hold(_ held: Bool = true) async throws(RequestFailure) {
        try await request(.hold(id, held: held))
    }

    /// Mutes or unmutes this user in the call, whatever its tracks.
    public func mute(_ muted: Bool = true) async throws(RequestFailure) {
        try await request(.mute(id, muted: muted))
    }

    /// Rings others, who join this call when they answer.
    public func invite(_ parties: [CallParty]) async throws(RequestFailure) {
        try await request(.invite(id, parties))
    }

    /// Joins the room of an already joined call, after its `RoomConnection` has ended.
    public func join() async throws(CallFailure) -> RoomConnection {
        try await join(.join(id))
    }

    private func request(_ request: CallRequest) async throws(RequestFailure) {
        guard let channel else { throw .ended }
        try await channel.request(request)
    }

    private func join(_ request: CallRequest) async throws(CallFailure) -> RoomConnection {
        guard let channel else { throw .request(.ended) }
        return try await channel.join(request).room
    }
}

/// How a call ended for this device.
public enum CallEnding: Sendable, Hashable {
    /// It was answered, and a member hung up.
    case completed
    /// The caller hung up before an answer.
    case cancelled
    case rejected
    case busy
    /// No answer in time.
    case unanswered
    /// Another device of the same user answered.
    case answeredElsewhere
    /// Another device of the same user took it over from this one.
    case movedElsewhere
    case failed
    /// It ended while the channel was disconnected; how is unknown.
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

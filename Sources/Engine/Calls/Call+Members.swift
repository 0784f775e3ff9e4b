internal import Wire

extension Call {
    /// One party of the call, also after it has left.
    struct Member: Sendable {
        var info: CallMember
        /// The inviter; nil for the caller. An invitation is withdrawn when its inviter leaves.
        var inviter: CallParty?
        var isInRoom = false
        /// Another device has replaced it and has not joined the room yet.
        var isMoving = false
        /// An assistant that had no device when invited and had to be dispatched.
        var isDispatched = false
        /// Changes with each invitation and answer; invalidates earlier timers.
        var stamp: UInt64 = 0
        /// Number of its requests to hold or resume. The room applies each, also one that changes nothing here.
        var holds = 0
        /// Number of its requests to mute or unmute.
        var mutes = 0

        var state: CallMemberState { info.state }

        var stateDescription: String {
            switch state {
            case .invited: "you have not answered it"
            case .joined: "you are in it"
            case .left: "you have left it (\(info.status))"
            }
        }

        /// Its part in the call has ended.
        mutating func retire(as outcome: CallStatus) {
            info.status = outcome
            info.held = false
            info.muted = false
            isInRoom = false
            isMoving = false
        }
    }
}

extension Call.Member {
    /// A member of a stored call, whose inviter is not stored.
    init(restoring info: CallMember, of caller: CallParty, stamp: UInt64) {
        self.init(
            info: info, inviter: info.party == caller ? nil : caller, isDispatched: info.party.isAssistant && info.state == .invited,
            stamp: stamp)
    }
}

/// The members of a call, the caller first.
extension [Call.Member] {
    /// How a call with these members ends now; nil if it goes on. Until it is answered it needs somebody who can answer, then a user who
    /// has joined and somebody else.
    func outcome(isAnswered: Bool) -> CallStatus? {
        let isAwaited = contains { $0.state == .invited }
        if isAnswered {
            let joined = filter { $0.state == .joined }
            let continues = joined.contains { $0.info.party.user != nil } && (joined.count > 1 || isAwaited)
            return continues ? nil : .completed
        }
        guard !isAwaited else { return nil }
        let outcomes = dropFirst().map(\.info.status)
        // An explicit outcome takes precedence over none.
        return [.rejected, .busy, .timeout, .cancelled].first { outcomes.contains($0) } ?? .failed
    }

    /// - Returns: whether there were any.
    @discardableResult
    mutating func withdrawInvitations(by inviter: CallParty) -> Bool {
        var some = false
        for index in indices where self[index].inviter == inviter && self[index].state == .invited {
            self[index].retire(as: .cancelled)
            some = true
        }
        return some
    }

    /// The call ends.
    mutating func retireAll(as outcome: CallStatus) {
        for index in indices {
            switch self[index].state {
            case .invited: self[index].retire(as: .cancelled)
            case .joined: self[index].retire(as: outcome)
            case .left: break
            }
        }
    }
}

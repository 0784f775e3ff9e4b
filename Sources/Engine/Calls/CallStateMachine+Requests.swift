internal import Wire

extension CallStateMachine {
    /// Performs a request or rejects it. Each request is validated completely before it changes state.
    mutating func answer(
        _ request: CallRequest, of requester: Requester, unknown: Set<CallParty>, at now: Instant, into effects: inout [Effect]
    ) {
        // The device may have disconnected while its request was under way.
        guard let user = user(of: requester) else { return }
        do throws(CallError) {
            try perform(request, of: requester, user, unknown: unknown, at: now, into: &effects)
        } catch {
            effects.append(.reject(error, to: requester))
        }
    }

    private mutating func perform(
        _ request: CallRequest, of requester: Requester, _ user: Identity, unknown: Set<CallParty>, at now: Instant,
        into effects: inout [Effect]
    ) throws(CallError) {
        switch request {
        case .start(let start): try begin(start, by: user, requester, unknown: unknown, at: now, into: &effects)
        case .answer(let id): try pickUp(id, by: user, requester, at: now, into: &effects)
        case .join(let id): try join(id, by: user, requester, at: now, into: &effects)
        case .reject(let id, let rejection):
            try checkText(rejection.reason ?? "", "reason", 0...ProtocolLimits.callReasonBytesMax)
            try step(id, of: user, requester, .invited, at: now, into: &effects) { call, index in
                let (status, kind): (CallStatus, CallEvent.Kind) = rejection.isBusy ? (.busy, .busy) : (.rejected, .rejected)
                call.leave(at: index, as: status, kind, device: requester.device, reason: rejection.reason)
            }
        case .cancel(let id):
            let call = try find(id, of: user)
            guard call.caller == CallParty(user) else { throw CallError(.notAllowed, "only the caller can cancel the call") }
            guard !call.isOver && call.status != .answered else { throw conflict(call, "it is \(call.status)", for: user) }
            try step(id, of: user, requester, .joined, at: now, into: &effects) { call, index in
                call.leave(at: index, as: .cancelled, .cancelled, device: requester.device)
            }
        case .hangUp(let id):
            try step(id, of: user, requester, .joined, at: now, into: &effects) { call, index in
                call.leave(at: index, as: .completed, .left, device: requester.device)
            }
        case .hold(let id, let held): try hold(held, id, by: user, requester, at: now, into: &effects)
        case .mute(let id, let muted):
            try step(id, of: user, requester, .joined, at: now, into: &effects) { call, index in
                call.mute(muted, at: index, by: requester.device)
            }
        case .invite(let id, let parties): try invite(parties, to: id, by: user, requester, unknown: unknown, at: now, into: &effects)
        case .renew: throw CallError(.unsupported, "tokens are renewed by the shell of the channel, not by the state machine")
        case .worker: throw CallError(.unsupported, "requests of workers are performed by the dispatch state machine")
        case .ping(let time): reply(CallReply(pong: time), to: requester, into: &effects)
        }
    }

    // MARK: Answering and holding

    /// - Parameter crossing: the call that the user started instead of accepting this one.
    mutating func pickUp(
        _ id: CallID, by user: Identity, _ requester: Requester, with crossing: CallStart? = nil, at now: Instant,
        into effects: inout [Effect]
    ) throws(CallError) {
        try checkExpectsReply(requester)
        let found = try find(id, of: user)
        try checkIsFree(user, but: id)
        var (call, index) = try take(found, of: user, .invited)
        let isFirst = call.status != .answered
        call.answer(at: index, on: requester.device, with: crossing)
        effects.append(.admit(user, to: call.info, reply: requester))
        commit(call, at: now, into: &effects)
        awaitArrival(at: index, of: call, from: now)
        if isFirst, let caller = call.index(of: call.caller) { awaitArrival(at: caller, of: call, from: now) }
        rejectWaitingCalls(of: user, at: now, into: &effects)
    }

    private mutating func join(
        _ id: CallID, by user: Identity, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(CallError) {
        try checkExpectsReply(requester)
        var (call, index) = try take(try find(id, of: user), of: user, .joined)
        // An HTTP request does not identify the device.
        if requester.device == nil || requester.device != call.members[index].info.device {
            call.move(memberAt: index, to: requester.device)
        }
        effects.append(.admit(user, to: call.info, reply: requester))
        commit(call, at: now, into: &effects)
    }

    private mutating func hold(
        _ held: Bool, _ id: CallID, by user: Identity, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(CallError) {
        let call = try find(id, of: user)
        if !call.isOver && call.status != .answered { throw conflict(call, "nobody has answered yet", for: user) }
        if !held { try checkIsFree(user, but: id) }
        try step(id, of: user, requester, .joined, at: now, into: &effects) { call, index in
            call.hold(held, at: index, by: requester.device)
        }
        if !held { rejectWaitingCalls(of: user, at: now, into: &effects) }
    }

    /// Performs a step and replies with the call after it.
    private mutating func step(
        _ id: CallID, of user: Identity, _ requester: Requester, _ state: CallMemberState, at now: Instant, into effects: inout [Effect],
        _ change: (inout Call, Int) -> Void
    ) throws(CallError) {
        var (call, index) = try take(try find(id, of: user), of: user, state)
        change(&call, index)
        reply(CallReply(call.info), to: requester, into: &effects)
        commit(call, at: now, into: &effects)
    }

    /// Validates that the user is in `state`, and returns the call ready for a step.
    func take(_ call: Call, of user: Identity, _ state: CallMemberState) throws(CallError) -> (Call, index: Int) {
        guard let index = call.index(of: CallParty(user)) else { throw .noSuchCall }
        let member = call.members[index]
        guard !call.isOver && member.state == state else {
            throw conflict(call, call.isOver ? "it is over (\(call.status))" : member.stateDescription, for: user)
        }
        var call = call
        call.begin(at: wallClock)
        return (call, index)
    }

    // MARK: Queries

    /// A call that this user knows of.
    func find(_ id: CallID, of user: Identity) throws(CallError) -> Call {
        guard userRecords[user]?.calls.contains(id) == true, let call = calls[id] else { throw .noSuchCall }
        return call
    }

    func conflict(_ call: Call, _ message: String, for user: Identity) -> CallError {
        CallError(.conflict, message, call: call.isKnown(to: CallParty(user)) ? call.info : nil)
    }

    /// The call that this user is talking in. Linear in its calls. Assistants may talk in several.
    func activeCall(of user: Identity, but id: CallID? = nil) -> Call? {
        guard !CallParty(user).isAssistant else { return nil }
        for other in userRecords[user]?.calls ?? [] where other != id {
            guard let call = calls[other], !call.isOver, let index = call.index(of: CallParty(user)) else { continue }
            if call.members[index].state == .joined && !call.members[index].info.held { return call }
        }
        return nil
    }

    /// Rejects a user who is talking in another call.
    func checkIsFree(_ user: Identity, but id: CallID? = nil) throws(CallError) {
        if let other = activeCall(of: user, but: id) { throw conflict(other, "you are in another call; put it on hold first", for: user) }
    }

    private func user(of requester: Requester) -> Identity? {
        switch requester {
        case .device(let device, _): users[device]
        case .web(let user, _): user
        }
    }

    // MARK: Replies

    func reply(_ reply: CallReply, to requester: Requester, into effects: inout [Effect]) {
        if requester.expectsReply { effects.append(.reply(reply, to: requester)) }
    }

    func checkExpectsReply(_ requester: Requester) throws(CallError) {
        guard requester.expectsReply else { throw CallError(.invalidArgument, "give an `id`: the reply has the room token") }
    }

    func checkText(_ text: String, _ name: String, _ lengths: ClosedRange<Int>) throws(CallError) {
        guard lengths.contains(text.utf8.count) else {
            throw CallError(.invalidArgument, "`\(name)` must be \(lengths.lowerBound) to \(lengths.upperBound) bytes")
        }
    }
}

extension CallStateMachine.Requester {
    /// Nil for HTTP requests.
    var device: DeviceID? {
        if case .device(let device, _) = self { device } else { nil }
    }

    var expectsReply: Bool {
        if case .device(_, nil) = self { false } else { true }
    }
}

extension CallError {
    /// Also for calls of others, so that their existence is not revealed.
    static var noSuchCall: CallError { CallError(.notFound, "you have no such call") }
}

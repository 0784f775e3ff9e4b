import Wire

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
    private mutating func pickUp(
        _ id: CallID, by user: Identity, _ requester: Requester, with crossing: CallStart? = nil, at now: Instant,
        into effects: inout [Effect]
    ) throws(CallError) {
        try checkExpectsReply(requester)
        let found = try find(id, of: user)
        if let other = activeCall(of: user, but: id) { throw conflict(other, "you are in another call; put it on hold first", for: user) }
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
        if !held, let other = activeCall(of: user, but: id) {
            throw conflict(other, "you are in another call; put it on hold first", for: user)
        }
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

extension Call.Member {
    fileprivate var stateDescription: String {
        switch state {
        case .invited: "you have not answered it"
        case .joined: "you are in it"
        case .left: "you have left it (\(info.status))"
        }
    }
}

extension CallError {
    /// Also for calls of others, so that their existence is not revealed.
    static var noSuchCall: CallError { CallError(.notFound, "you have no such call") }
}

extension CallStateMachine {
    mutating func begin(
        _ start: CallStart, by user: Identity, _ requester: Requester, unknown: Set<CallParty>, at now: Instant,
        into effects: inout [Effect]
    ) throws(CallError) {
        guard !CallParty(user).isAssistant else { throw CallError(.notAllowed, "an assistant cannot start calls; it can only be called") }
        try checkExpectsReply(requester)
        try check(start.to, by: user)
        try checkText(start.callerName, "caller_name", 0...ProtocolLimits.participantNameBytesMax)
        try checkText(start.metadata, "metadata", 0...ProtocolLimits.callMetadataBytesMax)
        if let key = start.idempotencyKey {
            try checkText(key, "idempotency_key", 1...ProtocolLimits.idempotencyKeyBytesMax)
            if let earlier = call(by: user, under: key) {
                try repeatReply(for: earlier, to: start, user, requester, into: &effects)
                return
            }
        }
        try checkExist(start.to, unknown)
        if let crossing = crossingCall(of: start, by: user) {
            return try pickUp(crossing, by: user, requester, with: start, at: now, into: &effects)
        }
        if let other = activeCall(of: user) { throw conflict(other, "you are in another call; put it on hold first", for: user) }
        try checkRoomForMore(by: user, at: now)

        var call = Call(id: identifiers.call(), caller: user, device: requester.device, start: start, at: wallClock)
        call.begin(at: wallClock)
        addInvitations(start.to, into: &call, by: user, kind: .started, device: requester.device, at: now)
        liveCount += 1
        effects.append(.admit(user, to: call.info, reply: requester))
        commit(call, at: now, into: &effects)
        // A call whose callees were all busy does not block the user.
        if !call.isOver { rejectWaitingCalls(of: user, at: now, into: &effects) }
    }

    /// The call of a user who is called by the only party that it calls: they want to talk to each other, so that one call is enough.
    private func crossingCall(of start: CallStart, by user: Identity) -> CallID? {
        guard start.to.count == 1 else { return nil }
        return userRecords[user]?.calls.first { calls[$0]?.isOffered(onlyTo: CallParty(user), by: start.to[0]) == true }
    }

    mutating func invite(
        _ parties: [CallParty], to id: CallID, by user: Identity, _ requester: Requester, unknown: Set<CallParty>, at now: Instant,
        into effects: inout [Effect]
    ) throws(CallError) {
        var (call, _) = try take(try find(id, of: user), of: user, .joined)
        try check(parties, by: user)
        try checkExist(parties, unknown)
        for party in parties where call.concerns(party) { throw conflict(call, "\(party) is in the call already", for: user) }
        guard call.members.count + parties.count(where: { call.index(of: $0) == nil }) <= ProtocolLimits.callMembersMax else {
            throw CallError(.limitExceeded, "a call has at most \(ProtocolLimits.callMembersMax) members")
        }
        guard CallParty(user).isAssistant || userRecords[user, default: CallUserRecord()].starts.take(at: now) else { throw .tooFast }
        addInvitations(parties, into: &call, by: user, kind: .invited, device: requester.device, at: now)
        reply(CallReply(call.info), to: requester, into: &effects)
        commit(call, at: now, into: &effects)
    }

    /// With `Waiting.busy`, rejects other calls that ring for a user who has just started talking.
    mutating func rejectWaitingCalls(of user: Identity, at now: Instant, into effects: inout [Effect]) {
        guard settings.waiting == .busy, !CallParty(user).isAssistant else { return }
        for id in userRecords[user]?.calls ?? [] {
            guard var call = calls[id], !call.isOver, let index = call.index(of: CallParty(user)) else { continue }
            guard call.members[index].state == .invited else { continue }
            call.begin(at: wallClock)
            call.leave(at: index, as: .busy, .busy)
            commit(call, at: now, into: &effects)
        }
    }

    private mutating func addInvitations(
        _ parties: [CallParty], into call: inout Call, by user: Identity, kind: CallEvent.Kind, device: DeviceID?, at now: Instant
    ) {
        link(call, to: CallParty(user))
        for party in parties {
            let status = status(for: party)
            call.invite(party, as: status, by: CallParty(user))
            if status == .busy { continue }
            link(call, to: party)
            if let index = call.index(of: party) { awaitAnswer(at: index, of: call, from: now) }
        }
        call.recordInvitations(kind, of: parties, by: CallParty(user), device: device)
    }

    mutating func link(_ call: Call, to party: CallParty) {
        guard userRecords[party.identity]?.calls.contains(call.id) != true else { return }
        userRecords[party.identity, default: CallUserRecord()].calls.append(call.id)
    }

    private func status(for party: CallParty) -> CallStatus {
        let callee = party.identity
        guard let record = userRecords[callee] else { return .started }
        if settings.waiting == .busy && activeCall(of: callee) != nil { return .busy }
        let callsMax = party.isAssistant ? Limits.callsPerAssistantMax : Limits.callsPerUserMax
        if snapshot(of: callee).count >= callsMax { return .busy }
        return record.devices.isEmpty ? .started : .ringing
    }

    // MARK: Idempotent retries

    private func call(by user: Identity, under key: String) -> Call? {
        userRecords[user]?.calls.lazy.compactMap { calls[$0] }.first { $0.start(by: CallParty(user))?.idempotencyKey == key }
    }

    private func repeatReply(
        for call: Call, to start: CallStart, _ user: Identity, _ requester: Requester, into effects: inout [Effect]
    ) throws(CallError) {
        guard var known = call.start(by: CallParty(user)) else { throw conflict(call, "you have left this call", for: user) }
        // The members of a conversation may have changed since.
        if known.conversation != nil, known.conversation == start.conversation { known.to = start.to }
        guard known == start else {
            throw CallError(.idempotencyKeyReused, "this `idempotency_key` was used for another call; use a new one")
        }
        if call.concerns(CallParty(user)) {
            effects.append(.admit(user, to: call.info, reply: requester))
        } else if call.isKnown(to: CallParty(user)) {
            reply(CallReply(call.info), to: requester, into: &effects)
        } else {
            throw conflict(call, "you have left this call", for: user)
        }
    }

    // MARK: Checks

    private func check(_ parties: [CallParty], by user: Identity) throws(CallError) {
        guard (1..<ProtocolLimits.callMembersMax).contains(parties.count) else {
            throw CallError(.invalidArgument, "`to` must name 1 to \(ProtocolLimits.callMembersMax - 1)")
        }
        guard Set(parties).count == parties.count else { throw CallError(.invalidArgument, "`to` names a party twice") }
        guard !parties.contains(CallParty(user)) else { throw CallError(.invalidArgument, "you cannot call yourself") }
    }

    private func checkExist(_ parties: [CallParty], _ unknown: Set<CallParty>) throws(CallError) {
        if let stranger = parties.first(where: unknown.contains) { throw CallError(.notFound, "there is no user \(stranger)") }
    }

    private mutating func checkRoomForMore(by user: Identity, at now: Instant) throws(CallError) {
        guard snapshot(of: user).count < Limits.callsPerUserMax else {
            throw CallError(.limitExceeded, "you have \(Limits.callsPerUserMax) calls already; end one of them", retryable: true)
        }
        guard liveCount < Limits.callsMax else {
            throw CallError(.limitExceeded, "too many calls are active; try again later", retryable: true)
        }
        guard userRecords[user, default: CallUserRecord()].starts.take(at: now) else { throw .tooFast }
    }
}

extension CallError {
    fileprivate static var tooFast: CallError {
        CallError(.limitExceeded, "too many calls in a short time; wait a second", retryable: true)
    }
}

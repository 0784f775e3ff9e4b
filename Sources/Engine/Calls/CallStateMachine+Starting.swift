import Wire

extension CallStateMachine {
    mutating func begin(
        _ start: CallStart, by user: Identity, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(CallError) {
        guard !CallParty(user).isAssistant else { throw CallError(.notAllowed, "assistants are called, and call nobody") }
        try checkWantsToken(requester)
        try check(start.to, by: user)
        try checkText(start.callerName, "caller_name", 0...ProtocolLimits.participantNameBytesMax)
        try checkText(start.metadata, "metadata", 0...ProtocolLimits.callMetadataBytesMax)
        if let key = start.idempotencyKey {
            try checkText(key, "idempotency_key", 1...ProtocolLimits.idempotencyKeyBytesMax)
            if let earlier = call(by: user, under: key) {
                try repeatAnswer(of: earlier, to: start, user, requester, into: &effects)
                return
            }
        }
        if let other = activeCall(of: user) { throw conflict(other, "you are in another call; put it on hold first", for: user) }
        try checkRoomForMore(by: user, at: now)

        var call = Call(id: identifiers.call(), caller: user, device: requester.device, start: start)
        call.begin()
        ask(start.to, into: &call, by: user, kind: .started, device: requester.device, at: now)
        liveCount += 1
        effects.append(.admit(user, to: call.info, reply: requester))
        commit(call, at: now, into: &effects)
        // A call that found everybody busy keeps nobody from calling.
        if !call.isOver { rejectWaitingCalls(of: user, at: now, into: &effects) }
    }

    mutating func invite(
        _ parties: [CallParty], to id: CallID, by user: Identity, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(CallError) {
        var (call, _) = try take(try find(id, of: user), of: user, .joined)
        try check(parties, by: user)
        for party in parties where call.concerns(party) { throw conflict(call, "\(party) is in the call already", for: user) }
        guard call.members.count + parties.count(where: { call.index(of: $0) == nil }) <= ProtocolLimits.callMembersMax else {
            throw CallError(.limitExceeded, "a call has at most \(ProtocolLimits.callMembersMax) members")
        }
        guard CallParty(user).isAssistant || lines[user, default: CallUser()].starts.take(at: now) else { throw .tooFast }
        ask(parties, into: &call, by: user, kind: .invited, device: requester.device, at: now)
        reply(CallReply(call.info), to: requester, into: &effects)
        commit(call, at: now, into: &effects)
    }

    /// Under `Waiting.busy`, whoever else rings for somebody that has just begun to talk finds the line busy.
    mutating func rejectWaitingCalls(of user: Identity, at now: Instant, into effects: inout [Effect]) {
        guard settings.waiting == .busy, !CallParty(user).isAssistant else { return }
        for id in lines[user]?.calls ?? [] {
            guard var call = calls[id], !call.isOver, let index = call.index(of: CallParty(user)) else { continue }
            guard call.members[index].state == .invited else { continue }
            call.begin()
            call.leave(at: index, as: .busy, .busy)
            commit(call, at: now, into: &effects)
        }
    }

    private mutating func ask(
        _ parties: [CallParty], into call: inout Call, by user: Identity, kind: CallEvent.Kind, device: DeviceID?, at now: Instant
    ) {
        note(call, on: CallParty(user))
        for party in parties {
            let status = status(for: party)
            call.invite(party, as: status, by: CallParty(user))
            if status == .busy { continue }
            note(call, on: party)
            let stamp = call.index(of: party).map { call.members[$0].stamp } ?? 0
            rings.append(CallTimer(at: now + settings.ringTime, call: call.id, party: party, stamp: stamp))
        }
        call.noteInvitations(kind, of: parties, by: CallParty(user), device: device)
    }

    private mutating func note(_ call: Call, on party: CallParty) {
        guard lines[party.identity]?.calls.contains(call.id) != true else { return }
        lines[party.identity, default: CallUser()].calls.append(call.id)
    }

    private func status(for party: CallParty) -> CallStatus {
        let callee = party.identity
        guard let line = lines[callee] else { return .started }
        if settings.waiting == .busy && activeCall(of: callee) != nil { return .busy }
        let callsMax = party.isAssistant ? Limits.callsPerAssistantMax : Limits.callsPerUserMax
        if snapshot(of: callee).count >= callsMax { return .busy }
        return line.devices.isEmpty ? .started : .ringing
    }

    // MARK: The same again

    private func call(by user: Identity, under key: String) -> Call? {
        lines[user]?.calls.lazy.compactMap { calls[$0] }.first { $0.caller == CallParty(user) && $0.start.idempotencyKey == key }
    }

    private func repeatAnswer(
        of call: Call, to start: CallStart, _ user: Identity, _ requester: Requester, into effects: inout [Effect]
    ) throws(CallError) {
        guard call.start == start else { throw conflict(call, "the key was given to another call", for: user) }
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
        guard Set(parties).count == parties.count else { throw CallError(.invalidArgument, "`to` names somebody twice") }
        guard !parties.contains(CallParty(user)) else { throw CallError(.invalidArgument, "nobody can call themselves") }
    }

    private mutating func checkRoomForMore(by user: Identity, at now: Instant) throws(CallError) {
        guard snapshot(of: user).count < Limits.callsPerUserMax else {
            throw CallError(.limitExceeded, "you have \(Limits.callsPerUserMax) calls already; end one of them", retryable: true)
        }
        guard liveCount < Limits.callsMax else {
            throw CallError(.limitExceeded, "too many calls go on; try again later", retryable: true)
        }
        guard lines[user, default: CallUser()].starts.take(at: now) else { throw .tooFast }
    }
}

extension CallError {
    fileprivate static var tooFast: CallError {
        CallError(.limitExceeded, "too many calls in a short time; wait a second", retryable: true)
    }
}

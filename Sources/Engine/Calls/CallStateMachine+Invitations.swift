internal import Wire

/// Starting calls and inviting to them.
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
        try checkIsFree(user)
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

internal import DequeModule
internal import Wire

/// Emitting effects.
extension CallStateMachine {
    /// Stores a call after a step: sends its events, and emits the effects that follow from the difference.
    mutating func commit(_ call: Call, at now: Instant, into effects: inout [Effect]) {
        let before = calls[call.id]
        var settled = call
        settled.removeChanges()
        calls[call.id] = settled
        var last = before?.info
        for change in call.changes {
            send(change, into: &effects)
            record(change.event.call, since: last, into: &effects)
            last = change.event.call
        }
        for member in call.members {
            let former = before.flatMap { before in before.index(of: member.info.party).map { before.members[$0] } }
            emitChanges(of: member, since: former, in: call, into: &effects)
        }
        if call.isOver && before?.isOver != true { close(call, at: now, into: &effects) }
    }

    private func send(_ change: Call.Change, into effects: inout [Effect]) {
        let called = devices(of: change.called)
        let others = devices(of: change.audience.filter { !change.called.contains($0) })
        if !others.isEmpty { effects.append(.send(change.event, to: others)) }
        if !called.isEmpty {
            var event = change.event
            event.kind = .incoming
            effects.append(.send(event, to: called))
        }
    }

    private func devices(of parties: [CallParty]) -> [DeviceID] {
        parties.flatMap { userRecords[$0.identity]?.devices ?? [] }
    }

    private func record(_ info: CallInfo, since last: CallInfo?, into effects: inout [Effect]) {
        func members() {
            for member in info.members where last?.member(member.party)?.state != member.state {
                effects.append(.record(CallRecord(.member(member.party, member.state), info)))
            }
        }
        // A call starts before its members join, and ends after they have left.
        if info.status.isOver { members() }
        if last?.status != info.status {
            if last == nil && info.status != .started {
                var made = info
                made.status = .started
                effects.append(.record(CallRecord(.call(.started), made)))
            }
            effects.append(.record(CallRecord(.call(info.status), info)))
        }
        if !info.status.isOver { members() }
    }

    private func emitChanges(of member: Call.Member, since former: Call.Member?, in call: Call, into effects: inout [Effect]) {
        let party = member.info.party
        if case .assistant(let id) = party, member.isDispatched {
            if member.state == .invited && former?.stamp != member.stamp { effects.append(.dispatch(assistant: id, call.info)) }
            if member.state == .left && former?.state == .invited { effects.append(.recall(assistant: id, call.id)) }
        }
        if member.state == .left && former?.state == .joined && !call.isOver { effects.append(.remove(party, from: call.id)) }
        guard member.state == .joined else { return }
        if member.holds != (former?.holds ?? 0) { effects.append(.hold(party, in: call.id, member.info.held)) }
        if member.mutes != (former?.mutes ?? 0) { effects.append(.mute(party, in: call.id, member.info.muted)) }
    }

    private mutating func close(_ call: Call, at now: Instant, into effects: inout [Effect]) {
        effects.append(.endRoom(call.id))
        liveCount -= 1
        timers.ended.append(CallTimer(at: now + Limits.callOverKeptSpan, call: call.id))
        while timers.ended.count > Limits.callsOverKeptMax, let oldest = timers.ended.popFirst() { removeCall(oldest.call) }
    }

    /// Removes an ended call.
    mutating func removeCall(_ id: CallID) {
        guard let call = calls.removeValue(forKey: id) else { return }
        for user in call.members.map(\.info.party.identity) {
            userRecords[user]?.calls.removeAll { $0 == id }
            removeRecordIfIdle(of: user)
        }
    }

    mutating func removeRecordIfIdle(of user: Identity) {
        if userRecords[user]?.isIdle == true { userRecords[user] = nil }
    }
}

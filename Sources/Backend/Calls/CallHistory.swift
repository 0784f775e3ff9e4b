internal import Engine
internal import Store
internal import Wire

/// Derives the entries of users' call histories from the changes of running calls.
struct CallHistory {
    private struct Membership {
        let since: WallTime
        var answeredAt: WallTime?
    }

    /// Members who have not left, by call.
    private var memberships: [CallID: [CallParty: Membership]] = [:]

    init() {}

    /// - Parameter calls: calls whose earlier changes are not known any more.
    init(continuing calls: [CallInfo]) {
        for call in calls {
            let (start, answer) = (WallTime(milliseconds: call.startedAt ?? 0), call.answeredAt.map(WallTime.init(milliseconds:)))
            for member in call.members where member.state != .left {
                memberships[call.id, default: [:]][member.party] = Membership(
                    since: start, answeredAt: member.state == .joined ? answer : nil)
            }
        }
    }

    /// - Returns: if a member has left, the entry for their history, which excludes what happens in the call afterwards; otherwise nil.
    mutating func note(_ record: CallRecord, at now: WallTime) -> (user: UserID, entry: CallLogEntry)? {
        let call = record.call
        switch record.change {
        case .call(let status):
            if status.isOver { memberships[call.id] = nil } else { noteAnswer(of: call, at: now) }
        case .member(let party, .invited): memberships[call.id, default: [:]][party] = Membership(since: now)
        case .member(let party, .joined):
            // The caller is never invited.
            if memberships[call.id]?[party] == nil { memberships[call.id, default: [:]][party] = Membership(since: now) }
            noteAnswer(of: call, at: now)
        case .member(let party, .left):
            // A member who was busy from the start was never invited.
            let membership = memberships[call.id]?.removeValue(forKey: party) ?? Membership(since: now)
            guard let user = UserID(text: party.text) else { return nil }
            return (user, Self.entry(call, of: party, membership, at: now))
        }
        return nil
    }

    /// A joined member's call counts as answered once the first callee answers.
    private mutating func noteAnswer(of call: CallInfo, at now: WallTime) {
        guard call.status == .answered else { return }
        for member in call.members where member.state == .joined && memberships[call.id]?[member.party]?.answeredAt == nil {
            memberships[call.id]?[member.party]?.answeredAt = now
        }
    }

    private static func entry(_ call: CallInfo, of party: CallParty, _ membership: Membership, at now: WallTime) -> CallLogEntry {
        CallLogEntry(
            id: call.id, caller: call.caller, callerName: call.callerName, status: call.member(party)?.status ?? call.status,
            members: call.members.map { .init(party: $0.party, status: $0.status) }, startedAt: membership.since,
            answeredAt: membership.answeredAt, endedAt: now)
    }
}

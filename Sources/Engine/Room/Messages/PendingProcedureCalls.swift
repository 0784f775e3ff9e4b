internal import Wire

/// The remote procedure calls of a room that await an answer, oldest first.
struct PendingProcedureCalls: Sendable {
    enum Caller: Sendable, Hashable {
        /// Nil if it expects no answer.
        case participant(ParticipantHandle, request: UInt64?)
        /// Outside the room, with the number that the shell gave the call.
        case administrator(UInt64)

        var handle: ParticipantHandle? {
            if case .participant(let handle, _) = self { handle } else { nil }
        }
    }

    struct Call: Sendable, Hashable {
        var id: String
        var caller: Caller
        var callee: ParticipantHandle
        var deadline: Instant
    }

    private var pending: [Call] = []

    /// The earliest deadline. Linear in the pending calls.
    var deadline: Instant? { pending.lazy.map(\.deadline).min() }

    /// The pending calls of the same participant, or of all administrators together.
    func count(sharingLimitWith caller: Caller) -> Int {
        pending.count { $0.caller.handle == caller.handle }
    }

    mutating func begin(_ call: Call) {
        pending.append(call)
    }

    /// Whether the call awaits an answer of this callee.
    func isPending(_ id: String, at callee: ParticipantHandle) -> Bool {
        pending.contains { $0.id == id && $0.callee == callee }
    }

    /// Removes and returns the call, if it awaits an answer of this callee.
    mutating func finish(_ id: String, by callee: ParticipantHandle) -> Call? {
        pending.firstIndex { $0.id == id && $0.callee == callee }.map { pending.remove(at: $0) }
    }

    /// The answers that arrived in a pause are still unread.
    mutating func extend(by pause: Duration) {
        for index in pending.indices { pending[index].deadline = pending[index].deadline + pause }
    }

    /// Removes and returns the calls that have timed out.
    mutating func expire(at now: Instant) -> [Call] {
        removeAll { $0.deadline <= now }
    }

    /// Removes all calls of a participant that left, and returns those whose callers still wait.
    mutating func abandon(_ leaver: ParticipantHandle) -> [Call] {
        removeAll { $0.caller.handle == leaver || $0.callee == leaver }.filter { $0.caller.handle != leaver }
    }

    /// Removes and returns the calls of administrators.
    mutating func takeAdministrative() -> [Call] {
        removeAll { $0.caller.handle == nil }
    }

    /// Drops the request ids of a lost connection: on the next one they may mean something else.
    mutating func forgetRequests(of caller: ParticipantHandle) {
        for index in pending.indices where pending[index].caller.handle == caller {
            pending[index].caller = .participant(caller, request: nil)
        }
    }

    /// Replaces the handle of a participant that resumed.
    mutating func rename(_ old: ParticipantHandle, to new: ParticipantHandle) {
        for index in pending.indices {
            if case .participant(old, let request) = pending[index].caller { pending[index].caller = .participant(new, request: request) }
            if pending[index].callee == old { pending[index].callee = new }
        }
    }

    private mutating func removeAll(where matches: (Call) -> Bool) -> [Call] {
        let removed = pending.filter(matches)
        if !removed.isEmpty { pending.removeAll(where: matches) }
        return removed
    }
}

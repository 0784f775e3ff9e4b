internal import DequeModule
package import Wire

/// Who calls whom, who rings, and which device answered: every decision about calls, and nothing else.
///
/// A desk is driven as a room is: `handle(_:at:into:)` takes what happened and appends what is to be done, in order; `deadline` tells when
/// it wants to be woken. It knows the devices on users' own channels, and of a call's room only who came and went. Whoever drives it hands
/// it one input at a time: that order decides who was first.
///
/// Promises:
/// - the same seed and the same inputs give the same effects;
/// - every request gets exactly one answer, before the events that it causes; without an `id` none;
/// - a call is answered by the first device of each callee, and by no other;
/// - every change of a call is one event with the next number, and everybody who is concerned is told it with the same content: a device
///   that missed none holds the same history as every other;
/// - `ended` is a call's last event, and comes exactly once;
/// - nobody is told of a call that it is not invited to, has not joined or has left.
package struct CallStateMachine: Sendable {
    let settings: CallSettings
    var identifiers: IdentifierGenerator
    /// Those that go on, and those that were over a short while ago. Never walked over: users' lines know their calls.
    var calls: [CallID: Call] = [:]
    var lines: [Identity: CallUser] = [:]
    var users: [DeviceID: Identity] = [:]
    var liveCount = 0
    /// In the order in which they fall due, for each span is the same for all.
    var rings: Deque<CallTimer> = []
    var arrivals: Deque<CallTimer> = []
    var over: Deque<CallTimer> = []

    /// - Parameter seed: chooses the names that calls get; different for each life of the process.
    package init(settings: CallSettings = CallSettings(), seed: UInt64) {
        self.settings = settings
        identifiers = IdentifierGenerator(seed: seed)
    }

    /// When the desk wants `deadlinePassed`. It moves only in `handle`.
    package var deadline: Instant? {
        [rings.first?.at, arrivals.first?.at, over.first?.at].compactMap { $0 }.min()
    }

    /// Calls that go on.
    package var count: Int { liveCount }

    /// Devices that hear of calls.
    package var deviceCount: Int { users.count }

    /// Nothing is known of anybody.
    package var isEmpty: Bool { calls.isEmpty && lines.isEmpty && users.isEmpty }

    /// The calls that this user is invited to or has joined, oldest first.
    package func snapshot(of user: Identity) -> [CallInfo] {
        lines[user]?.calls.compactMap { calls[$0] }.filter { $0.concerns(CallParty(user)) }.map(\.info) ?? []
    }

    /// A call as this user may see it: one that it is invited to, has joined, or was told the end of a short while ago.
    package func call(_ id: CallID, of user: Identity) -> CallInfo? {
        guard lines[user]?.calls.contains(id) == true, let call = calls[id], call.isKnown(to: CallParty(user)) else { return nil }
        return call.info
    }

    /// A call that goes on, whoever is in it.
    package func ongoing(_ id: CallID) -> CallInfo? {
        calls[id].flatMap { $0.isOver ? nil : $0.info }
    }

    /// Takes in what happened at `now`, which never goes back, and appends what is to be done about it.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        switch input {
        case .connected(let device, let user): connect(device, of: user, at: now, into: &effects)
        case .disconnected(let device): disconnect(device)
        case .request(let request, let requester): answer(request, of: requester, at: now, into: &effects)
        case .ringing(let id, let party): ring(party, in: id, at: now, into: &effects)
        case .joinedRoom(let id, let party): arrive(party, in: id, at: now, into: &effects)
        case .leftRoom(let id, let party): depart(party, from: id, at: now, into: &effects)
        case .failed(let id, let party, let reason): fail(party, in: id, reason, at: now, into: &effects)
        case .roomEnded(let id): endRoom(of: id, at: now, into: &effects)
        case .deadlinePassed: processDeadlines(at: now, into: &effects)
        }
        dropSettledTimers()
    }
}

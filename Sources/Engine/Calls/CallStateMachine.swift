package import Wire

/// The state of all calls: their members, the devices that ring, and the device that answered.
///
/// Driven like a room: `handle(_:at:into:)` takes an input and appends effects in order; `deadline` is when it must be called
/// again. Its inputs are the devices on users' channels, and joins and departures in calls' rooms. Inputs are passed one at a time;
/// their order decides races. Deterministic: no I/O, no clock, no randomness.
///
/// Invariants:
/// - The same seed and the same inputs give the same effects.
/// - Every request with an `id` gets exactly one answer, before the events it causes.
/// - One device of each callee answers a call: the first one.
/// - Every change of a call is one event with the next sequence number and the same content for everybody concerned.
/// - `ended` is the last event of a call and is sent exactly once.
/// - Only invited and joined users learn of a call.
package struct CallStateMachine: Sendable {
    let settings: CallSettings
    var identifiers: IdentifierGenerator
    /// Current calls, and ended ones for a while. Never iterated.
    var calls: [CallID: Call] = [:]
    var userRecords: [Identity: CallUserRecord] = [:]
    var users: [DeviceID: Identity] = [:]
    var liveCount = 0
    /// The wall-clock time of the current input, in milliseconds since 1970.
    var wallClock: Int64 = 0
    var timers = CallTimers()

    /// - Parameter seed: determines the call identifiers; must differ between runs of the process.
    package init(settings: CallSettings = CallSettings(), seed: UInt64) {
        self.settings = settings
        identifiers = IdentifierGenerator(seed: seed)
    }

    /// Time for the next `deadlinePassed`. Changes only in `handle`.
    package var deadline: Instant? { timers.deadline }

    /// Current calls.
    package var count: Int { liveCount }

    /// Connected devices.
    package var deviceCount: Int { users.count }

    /// Whether no state is left.
    package var isEmpty: Bool { calls.isEmpty && userRecords.isEmpty && users.isEmpty }

    /// The calls that a user is invited to or has joined, oldest first.
    package func snapshot(of user: Identity) -> [CallInfo] {
        userRecords[user]?.calls.compactMap { calls[$0] }.filter { $0.concerns(CallParty(user)) }.map(\.info) ?? []
    }

    /// The calls that a user has left or missed, oldest first, including recently ended ones.
    package func left(by user: Identity) -> [CallInfo] {
        userRecords[user]?.calls.compactMap { calls[$0] }.filter { !$0.concerns(CallParty(user)) }.map(\.info) ?? []
    }

    /// A call as visible to a user: invited, joined, or ended a short while ago.
    package func call(_ id: CallID, of user: Identity) -> CallInfo? {
        guard userRecords[user]?.calls.contains(id) == true, let call = calls[id], call.isKnown(to: CallParty(user)) else { return nil }
        return call.info
    }

    /// A call that has not ended.
    package func ongoing(_ id: CallID) -> CallInfo? {
        calls[id].flatMap { $0.isOver ? nil : $0.info }
    }

    /// Handles an input and appends its effects.
    ///
    /// - Parameters:
    ///   - now: the monotonic time.
    ///   - wallClock: the time for the timestamps of calls, in milliseconds since 1970; no decision depends on it.
    package mutating func handle(_ input: Input, at now: Instant, wallClock: Int64 = 0, into effects: inout [Effect]) {
        self.wallClock = wallClock
        switch input {
        case .connected(let device, let user): connect(device, of: user, at: now, into: &effects)
        case .disconnected(let device): disconnect(device)
        case .dedicated(let device): dedicate(device, into: &effects)
        case .request(let request, let requester, let unknown):
            answer(request, of: requester, unknown: unknown, at: now, into: &effects)
        case .ringing(let id, let party): ring(party, in: id, at: now, into: &effects)
        case .joinedRoom(let id, let party, let media):
            arrive(party, in: id, at: now, into: &effects)
            if let media { adopt(media, of: party, in: id, at: now, into: &effects) }
        case .leftRoom(let id, let party): depart(party, from: id, at: now, into: &effects)
        case .failed(let id, let party, let reason): fail(party, in: id, reason, at: now, into: &effects)
        case .roomEnded(let id): endRoom(of: id, at: now, into: &effects)
        case .deadlinePassed: processDeadlines(at: now, into: &effects)
        }
        dropSettledTimers()
    }
}

extension CallStateMachine {
    /// Registers a device. Calls that could not ring yet ring now.
    mutating func connect(_ device: DeviceID, of user: Identity, at now: Instant, into effects: inout [Effect]) {
        precondition(users[device] == nil, "a device is connected once; each connection has an id of its own")
        let party = CallParty(user)
        let devicesMax = party.isAssistant ? Limits.callDevicesPerAssistantMax : Limits.callDevicesPerUserMax
        if let record = userRecords[user], record.devices.count >= devicesMax {
            let oldest = record.devices[0]
            disconnect(oldest)
            effects.append(.close(oldest))
        }
        for id in userRecords[user]?.calls ?? [] { ring(party, in: id, at: now, into: &effects) }
        users[device] = user
        userRecords[user, default: CallUserRecord()].devices.append(device)
        effects.append(.greet(device, of: user, calls: snapshot(of: user)))
    }

    mutating func disconnect(_ device: DeviceID) {
        guard let user = users.removeValue(forKey: device) else { return }
        userRecords[user]?.devices.removeAll { $0 == device }
        removeRecordIfIdle(of: user)
    }

    /// Calls that rang only on this process are dispatched.
    mutating func dedicate(_ device: DeviceID, into effects: inout [Effect]) {
        guard let user = users[device], case .assistant(let assistant) = CallParty(user) else { return }
        disconnect(device)
        guard let record = userRecords[user], record.devices.isEmpty else { return }
        for id in record.calls {
            guard var call = calls[id], !call.isOver, let index = call.index(of: .assistant(assistant)),
                call.members[index].state == .invited, !call.members[index].isDispatched
            else { continue }
            call.dispatch(at: index)
            calls[id] = call
            effects.append(.dispatch(assistant: assistant, call.info))
        }
    }
}

/// Inputs from the call's room.
extension CallStateMachine {
    mutating func ring(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        guard call.members[index].info.status == .started else { return }
        call.begin(at: wallClock)
        call.ring(at: index)
        commit(call, at: now, into: &effects)
    }

    mutating func arrive(_ party: CallParty, in id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        if case .assistant = party, call.members[index].state == .invited {
            let isFirst = call.status != .answered
            call.begin(at: wallClock)
            call.answer(at: index, on: nil)
            call.setInRoom(at: index)
            commit(call, at: now, into: &effects)
            if isFirst, let caller = call.index(of: call.caller) { awaitArrival(at: caller, of: call, from: now) }
        } else if call.members[index].state == .joined {
            call.setInRoom(at: index)
            calls[id] = call
        }
    }

    mutating func depart(_ party: CallParty, from id: CallID, at now: Instant, into effects: inout [Effect]) {
        if var call = calls[id], !call.isOver, let index = call.index(of: party), call.members[index].isMoving {
            call.awaitMove(at: index)
            calls[id] = call
            return awaitArrival(at: index, of: call, from: now)
        }
        leave(party, of: id, as: .completed, .left, ifJoined: true, at: now, into: &effects)
    }

    mutating func fail(_ party: CallParty, in id: CallID, _ reason: String, at now: Instant, into effects: inout [Effect]) {
        leave(party, of: id, as: .failed, .failed, reason: reason, at: now, into: &effects)
    }

    mutating func endRoom(of id: CallID, at now: Instant, into effects: inout [Effect]) {
        guard var call = calls[id], !call.isOver else { return }
        call.begin(at: wallClock)
        call.end()
        commit(call, at: now, into: &effects)
    }

    /// Removes a member without a request of its own.
    mutating func leave(
        _ party: CallParty, of id: CallID, as outcome: CallStatus, _ kind: CallEvent.Kind, ifJoined: Bool = false, reason: String? = nil,
        at now: Instant, into effects: inout [Effect]
    ) {
        guard var call = calls[id], !call.isOver, let index = call.index(of: party) else { return }
        let state = call.members[index].state
        guard ifJoined ? state == .joined : state != .left else { return }
        call.begin(at: wallClock)
        call.leave(at: index, as: outcome, kind, reason: reason)
        commit(call, at: now, into: &effects)
    }
}

/// The devices and calls of one user or assistant.
struct CallUserRecord: Sendable {
    /// In connection order.
    var devices: [DeviceID] = []
    /// Calls it was informed of, oldest first, including recently ended ones.
    var calls: [CallID] = []
    var starts = TokenBucket(perSecond: Limits.callStartsPerSecond, burst: Limits.callStartBurst)

    var isIdle: Bool { devices.isEmpty && calls.isEmpty }
}

public import Foundation
internal import Wire

/// Maps a system's call screen, such as CallKit's, to the calls of a `Channel`. A pure value: takes actions and updates, and returns
/// requests and reports. `Examples/CallKit` connects it to a `CXProvider`.
///
///     for await event in channel.events { for report in screen.apply(event) { provider.report(report) } }
///     // in `provider(_:perform:)`:
///     switch screen.perform(.answer(action.callUUID)) {
///     case .request(let request): …    // send it, then fulfill or fail
///     case .done: action.fulfill()
///     case .refused: action.fail()
///     }
///
/// The UUID of a call from another party derives from its identifier (`Call.uuid`), so that a push and the channel refer to the same
/// call. For a call started here, the system chooses the UUID before the gateway knows the call: `started(_:as:)` connects the two.
public struct SystemCallScreen: Sendable {
    /// Calls that a push has announced and the channel has not confirmed.
    private var pushed: [UUID: CallID] = [:]
    /// Calls that the system shows, by the system's UUID.
    private var shown: [UUID: Call] = [:]
    /// UUIDs that the system has chosen.
    private var chosen: [CallID: UUID] = [:]
    /// Calls that the system has started and the gateway has not yet confirmed; true if the user has ended the call already.
    private var starting: [UUID: Bool] = [:]
    /// Calls that the user has ended with an action on this device.
    private var endedHere: Set<UUID> = []

    public init() {}

    /// The calls that the system shows, in no particular order.
    public var calls: [Call] { Array(shown.values) }

    /// The call that the system shows under a UUID; nil if there is none.
    public subscript(_ uuid: UUID) -> Call? { shown[uuid] }

    // MARK: Actions of the system

    /// Performs an action of the system.
    ///
    /// - Returns: the way to complete the action.
    public mutating func perform(_ action: SystemCallAction) -> SystemCallOutcome {
        switch action {
        case .start(let uuid, let to, let name):
            guard starting[uuid] == nil, shown[uuid] == nil else { return .refused }
            starting[uuid] = false
            return .request(.start(uuid, to, callerName: name))
        case .answer(let uuid):
            guard let call = shown[uuid] else {
                guard let id = pushed[uuid] else { return .refused }
                return .request(.answer(id))
            }
            guard call.direction == .incoming, call.state == .connecting else { return call.state == .connecting ? .refused : .done }
            return .request(.answer(call.id))
        case .end(let uuid): return end(uuid)
        case .setHeld(let uuid, let isHeld):
            guard let call = shown[uuid], call.state != .connecting else { return .refused }
            return call.isHeldByUs == isHeld ? .done : .request(.hold(call.id, isHeld))
        case .setMuted(let uuid, let isMuted):
            guard let call = shown[uuid] else { return .refused }
            return call.isMuted == isMuted ? .done : .request(.mute(call.id, isMuted))
        case .playDTMF(let uuid, let digits):
            guard let call = shown[uuid], call.state == .active, !digits.isEmpty else { return .refused }
            return .request(.sendDTMF(call.id, digits))
        }
    }

    private mutating func end(_ uuid: UUID) -> SystemCallOutcome {
        if starting[uuid] != nil {
            starting[uuid] = true
            return .done
        }
        if let id = pushed[uuid] {
            endedHere.insert(uuid)
            return .request(.reject(id))
        }
        guard let call = shown[uuid] else { return .done }
        endedHere.insert(uuid)
        return .request(call.direction == .incoming && call.state == .connecting ? .reject(call.id) : .hangUp(call.id))
    }

    /// Ends all calls after the system has dropped them (`providerDidReset`).
    ///
    /// - Returns: the requests that end the calls.
    public mutating func reset() -> [SystemCallRequest] {
        for uuid in starting.keys { starting[uuid] = true }
        let uuids = Set(shown.keys).union(pushed.keys).sorted { $0.uuidString < $1.uuidString }
        var requests: [SystemCallRequest] = []
        for uuid in uuids {
            if case .request(let request) = end(uuid) { requests.append(request) }
        }
        return requests
    }

    // MARK: Responses of the gateway

    /// Records that the gateway has started the call that the system started as `uuid`.
    ///
    /// - Returns: reports for the system, and a request to end the call if the user has ended it already.
    public mutating func started(_ uuid: UUID, as call: Call) -> (reports: [SystemCallReport], request: SystemCallRequest?) {
        let isEnded = starting.removeValue(forKey: uuid) ?? false
        chosen[call.id] = uuid
        if isEnded {
            endedHere.insert(uuid)
            return ([], .hangUp(call.id))
        }
        return (show(call, as: uuid), nil)
    }

    /// Records that the gateway has refused to start the call; fail the action.
    public mutating func notStarted(_ uuid: UUID) {
        starting[uuid] = nil
    }

    /// Records a push that announces a call. The report must always be made, even if the call is already known or over.
    public mutating func announced(_ push: CallPush) -> SystemCallReport {
        let uuid = push.uuid
        if shown[uuid] == nil { pushed[uuid] = push.id }
        return .incoming(uuid, shown[uuid].map { SystemCallDisplay($0) } ?? SystemCallDisplay(push))
    }

    // MARK: Events of the channel

    public mutating func apply(_ event: ChannelEvent) -> [SystemCallReport] {
        switch event {
        case .incoming(let call), .begun(let call), .changed(let call, _): show(call, as: uuid(of: call))
        case .ended(let call, let ending): close(uuid(of: call), call.id, ending)
        case .job, .reconnecting, .reconnected, .disconnected: []
        }
    }

    /// Compares with the calls of a channel that has just connected. Announced and shown calls that are not among them are over.
    public mutating func synchronize(with calls: [Call]) -> [SystemCallReport] {
        var reports: [SystemCallReport] = []
        for call in calls { reports += show(call, as: uuid(of: call)) }
        for uuid in pushed.keys.sorted(by: { $0.uuidString < $1.uuidString }) where endedHere.remove(uuid) == nil {
            reports.append(.ended(uuid, .unanswered))
        }
        pushed = [:]
        let known = Set(calls.map(\.id))
        for (uuid, call) in shown.sorted(by: { $0.key.uuidString < $1.key.uuidString }) where !known.contains(call.id) {
            shown[uuid] = nil
            chosen[call.id] = nil
            if endedHere.remove(uuid) == nil { reports.append(.ended(uuid, .remoteEnded)) }
        }
        return reports
    }

    private func uuid(of call: Call) -> UUID { chosen[call.id] ?? call.uuid }

    private mutating func show(_ call: Call, as uuid: UUID) -> [SystemCallReport] {
        // The event may arrive before `started`, which connects the call with its UUID.
        if call.direction == .outgoing, chosen[call.id] == nil, shown[uuid] == nil, !starting.isEmpty { return [] }
        let before = shown.updateValue(call, forKey: uuid)
        let isAnnounced = pushed.removeValue(forKey: uuid) != nil
        guard !endedHere.contains(uuid) else { return [] }
        let display = SystemCallDisplay(call)
        if call.direction == .incoming {
            // This includes a call that this device takes over from another one: the system then shows it as incoming, and as answered.
            if before == nil && !isAnnounced { return [.incoming(uuid, display)] }
            return before.map { SystemCallDisplay($0) } == display ? [] : [.updated(uuid, display)]
        }
        var reports: [SystemCallReport] = []
        if before?.info.status != call.info.status, call.info.status == .ringing { reports.append(.connecting(uuid, at: call.startedAt)) }
        if before?.state ?? .connecting == .connecting, call.state == .active || call.state == .held {
            reports.append(.connected(uuid, at: call.answeredAt))
        }
        if before.map({ SystemCallDisplay($0) }) != display { reports.append(.updated(uuid, display)) }
        return reports
    }

    private mutating func close(_ uuid: UUID, _ id: CallID, _ ending: CallEnding) -> [SystemCallReport] {
        let call = shown.removeValue(forKey: uuid)
        let wasAnnounced = pushed.removeValue(forKey: uuid) != nil
        chosen[id] = nil
        guard endedHere.remove(uuid) == nil, call != nil || wasAnnounced else { return [] }
        return [.ended(uuid, SystemCallEnding(ending, call?.direction ?? .incoming))]
    }
}

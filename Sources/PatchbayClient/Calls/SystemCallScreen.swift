public import Foundation
internal import Wire

/// Maps the call screen of a system, such as CallKit's, to the calls of a `Channel`. A pure value: actions and updates go in, requests and
/// reports come out. `Examples/CallKit` connects it to a `CXProvider`.
///
///     for await event in channel.events { for report in screen.apply(event) { provider.report(report) } }
///     // in `provider(_:perform:)`:
///     switch screen.perform(.answer(action.callUUID)) {
///     case .request(let request): …    // send it, then fulfill or fail
///     case .done: action.fulfill()
///     case .refused: action.fail()
///     }
///
/// A call that somebody else started has the UUID of its identifier (`Call.uuid`), so that a push and the channel mean the same call. For one
/// that is started here, the system chooses the UUID before the gateway knows the call: `started(_:as:)` connects both.
public struct SystemCallScreen: Sendable {
    /// Calls that a push has announced and the channel has not confirmed.
    private var pushed: [UUID: CallID] = [:]
    /// Calls that the system shows, by its UUID.
    private var shown: [UUID: Call] = [:]
    /// UUIDs that the system has chosen.
    private var chosen: [CallID: UUID] = [:]
    /// Started by the system and not yet known to the gateway; true: the user has ended it meanwhile.
    private var starting: [UUID: Bool] = [:]
    /// Calls that the user has ended here, of which the system knows.
    private var endedHere: Set<UUID> = []

    public init() {}

    /// The calls that the system shows, in no particular order.
    public var calls: [Call] { Array(shown.values) }

    /// The call that the system means.
    public subscript(_ uuid: UUID) -> Call? { shown[uuid] }

    // MARK: Actions of the system

    /// - Returns: what to do before the action is fulfilled.
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

    /// The system has dropped all calls (`providerDidReset`).
    ///
    /// - Returns: the requests that end them.
    public mutating func reset() -> [SystemCallRequest] {
        for uuid in starting.keys { starting[uuid] = true }
        let uuids = Set(shown.keys).union(pushed.keys).sorted { $0.uuidString < $1.uuidString }
        var requests: [SystemCallRequest] = []
        for uuid in uuids {
            if case .request(let request) = end(uuid) { requests.append(request) }
        }
        return requests
    }

    // MARK: Answers of the gateway

    /// The gateway has started the call that the system started as `uuid`.
    ///
    /// - Returns: what to report, and the request that ends the call if the user has done so meanwhile.
    public mutating func started(_ uuid: UUID, as call: Call) -> (reports: [SystemCallReport], request: SystemCallRequest?) {
        let isEnded = starting.removeValue(forKey: uuid) ?? false
        chosen[call.id] = uuid
        if isEnded {
            endedHere.insert(uuid)
            return ([], .hangUp(call.id))
        }
        return (show(call, as: uuid), nil)
    }

    /// The gateway has refused to start the call; the action fails.
    public mutating func notStarted(_ uuid: UUID) {
        starting[uuid] = nil
    }

    /// A push has announced a call. Each must be reported at once, also if the call is known already or over.
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

    /// Compares with the calls of a channel that has just connected: announced calls that are not among them are over.
    public mutating func synchronize(with calls: [Call]) -> [SystemCallReport] {
        var reports: [SystemCallReport] = []
        for call in calls { reports += show(call, as: uuid(of: call)) }
        for uuid in pushed.keys.sorted(by: { $0.uuidString < $1.uuidString }) where endedHere.remove(uuid) == nil {
            reports.append(.ended(uuid, .unanswered))
        }
        pushed = [:]
        return reports
    }

    private func uuid(of call: Call) -> UUID { chosen[call.id] ?? call.uuid }

    private mutating func show(_ call: Call, as uuid: UUID) -> [SystemCallReport] {
        // Its event may overtake `started`, which tells its UUID.
        if call.direction == .outgoing, chosen[call.id] == nil, shown[uuid] == nil, !starting.isEmpty { return [] }
        let before = shown.updateValue(call, forKey: uuid)
        let isAnnounced = pushed.removeValue(forKey: uuid) != nil
        guard !endedHere.contains(uuid) else { return [] }
        let display = SystemCallDisplay(call)
        if call.direction == .incoming {
            // Also one that this device has taken over from another: the system shows it as answered then.
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

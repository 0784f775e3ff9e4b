import Engine
import Testing
import Wire

/// The call state machine with a virtual clock, devices that record their events, and a room that follows the effects.
struct CallWorld {
    enum Answer: Equatable {
        case reply(CallReply)
        case admitted(CallInfo)
        case rejected(CallError)

        var code: RequestError.Code? { if case .rejected(let error) = self { error.error.code } else { nil } }
        var isAdmission: Bool { if case .admitted = self { true } else { false } }

        /// The call in the answer.
        var call: CallInfo? {
            switch self {
            case .reply(let reply): reply.call
            case .admitted(let call): call
            case .rejected(let error): error.call
            }
        }
    }

    var machine: CallStateMachine
    var now = Instant(nanoseconds: 1_000_000_000)
    /// Effects of the last step.
    var effects: [CallStateMachine.Effect] = []
    var history: [CallStateMachine.Effect] = []
    var received: [DeviceID: [CallEvent]] = [:]
    var hellos: [DeviceID: [CallInfo]] = [:]
    var answers: [CallStateMachine.Requester: [Answer]] = [:]
    var owners: [DeviceID: Identity] = [:]
    var checker = CallChecker()
    private var lastNumber: UInt64 = 0

    init(_ settings: CallSettings = CallSettings(), seed: UInt64 = 1) {
        machine = CallStateMachine(settings: settings, seed: seed)
    }

    mutating func receive(_ input: CallStateMachine.Input) {
        effects = []
        checker.nextStep()
        machine.handle(input, at: now, wallClock: Int64(now.nanoseconds / 1_000_000), into: &effects)
        history += effects
        for effect in effects { record(effect) }
    }

    private mutating func record(_ effect: CallStateMachine.Effect) {
        switch effect {
        case .greet(let device, let user, let calls):
            hellos[device] = calls
            checker.recordHello(device, of: user, calls)
        case .send(let event, let devices):
            for device in devices { received[device, default: []].append(event) }
            checker.recordEvent(event, to: devices, owners)
        case .reply(let reply, let requester): answers[requester, default: []].append(.reply(reply))
        case .admit(_, let call, let requester): answers[requester, default: []].append(.admitted(call))
        case .reject(let error, let requester): answers[requester, default: []].append(.rejected(error))
        case .close(let device): owners[device] = nil
        case .dispatch, .recall, .hold, .mute, .remove, .endRoom, .record: break
        }
    }

    /// Advances the clock and processes each deadline on the way.
    mutating func pass(_ span: Duration) {
        let end = now + span
        var passed: [CallStateMachine.Effect] = []
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            receive(.deadlinePassed)
            passed += effects
            if let next = machine.deadline { #expect(next > now, "a deadline that has passed must be removed") }
        }
        now = end
        effects = passed
    }

    /// - Parameter name: of the device: "bob.phone" belongs to bob.
    @discardableResult
    mutating func connect(_ name: String) -> DeviceID {
        lastNumber += 1
        let device = DeviceID(text: "\(name)#\(lastNumber)")
        let user = Identity(text: String(name.prefix { $0 != "." }))
        owners[device] = user
        receive(.connected(device, of: user))
        return device
    }

    mutating func disconnect(_ device: DeviceID) {
        owners[device] = nil
        receive(.disconnected(device))
    }

    @discardableResult
    mutating func send(_ device: DeviceID, _ request: CallRequest) -> Answer? {
        lastNumber += 1
        return send(.device(device, id: lastNumber), request)
    }

    @discardableResult
    mutating func sendByHTTP(_ user: Identity, _ request: CallRequest) -> Answer? {
        lastNumber += 1
        return send(.web(user, number: lastNumber), request)
    }

    private mutating func send(_ requester: CallStateMachine.Requester, _ request: CallRequest) -> Answer? {
        receive(.request(request, from: requester))
        #expect(answers[requester]?.count == 1, "every request has exactly one answer")
        return answers[requester]?.first
    }

    /// Starts a call and returns its id.
    mutating func call(_ device: DeviceID, _ to: String...) -> CallID {
        let answer = send(device, .start(CallStart(to: to.compactMap(CallParty.init(text:)))))
        return answer?.call?.id ?? CallID(text: "none")
    }

    // MARK: Results

    /// Short descriptions of the last step's effects.
    var trace: [String] { effects.compactMap(Self.describe) }

    private static func describe(_ effect: CallStateMachine.Effect) -> String? {
        func names(_ devices: [DeviceID]) -> String { devices.map { String($0.text.prefix { $0 != "#" }) }.joined(separator: " ") }
        func name(_ requester: CallStateMachine.Requester) -> String {
            switch requester {
            case .device(let device, _): names([device])
            case .web(let user, _): "web of \(user)"
            }
        }
        return switch effect {
        case .greet(let device, _, let calls): "greet \(calls.count) > \(names([device]))"
        case .send(let event, let devices):
            "\(event.kind.rawValue.dropFirst(5))\(event.by.map { " by \($0)" } ?? "") > \(names(devices))"
        case .reply(_, let requester): "reply > \(name(requester))"
        case .admit(let user, _, let requester): "admit \(user) > \(name(requester))"
        case .reject(let error, let requester): "reject \(error.error.code) > \(name(requester))"
        case .close(let device): "close \(names([device]))"
        case .dispatch(let assistant, _): "dispatch \(assistant)"
        case .recall(let assistant, _): "recall \(assistant)"
        case .hold(let party, _, let held): held ? "hold \(party)" : "unhold \(party)"
        case .mute(let party, _, let muted): muted ? "mute \(party)" : "unmute \(party)"
        case .remove(let party, _): "remove \(party)"
        case .endRoom: "end room"
        case .record: nil
        }
    }

    /// Names of the records of the last step.
    var records: [String] {
        effects.compactMap { effect in
            guard case .record(let record) = effect else { return nil }
            if case .member(let party, _) = record.change { return "\(record.name) \(party)" }
            return record.name
        }
    }

    func kinds(_ device: DeviceID) -> [String] { (received[device] ?? []).map { String($0.kind.rawValue.dropFirst(5)) } }

    func status(_ device: DeviceID) -> CallStatus? { received[device]?.last?.call.status }
}

import Engine
import Testing
import Wire

/// A call desk with a clock, devices that remember what they were told, and a room that believes the desk.
struct CallWorld {
    enum Answer: Equatable {
        case reply(CallReply)
        case admitted(CallInfo)
        case refused(CallError)

        var code: RequestError.Code? { if case .refused(let refusal) = self { refusal.error.code } else { nil } }
        var isAdmission: Bool { if case .admitted = self { true } else { false } }

        /// The call as the answer tells it.
        var call: CallInfo? {
            switch self {
            case .reply(let reply): reply.call
            case .admitted(let call): call
            case .refused(let refusal): refusal.call
            }
        }
    }

    var desk: CallStateMachine
    var now = Instant(nanoseconds: 1_000_000_000)
    /// What the last step had for effect.
    var effects: [CallStateMachine.Effect] = []
    var history: [CallStateMachine.Effect] = []
    var heard: [DeviceID: [CallEvent]] = [:]
    var greetings: [DeviceID: [CallInfo]] = [:]
    var answers: [CallStateMachine.Requester: [Answer]] = [:]
    var owners: [DeviceID: Identity] = [:]
    var checker = CallChecker()
    private var lastNumber: UInt64 = 0

    init(_ settings: CallSettings = CallSettings(), seed: UInt64 = 1) {
        desk = CallStateMachine(settings: settings, seed: seed)
    }

    mutating func happens(_ input: CallStateMachine.Input) {
        effects = []
        checker.nextStep()
        desk.handle(input, at: now, into: &effects)
        history += effects
        for effect in effects { note(effect) }
    }

    private mutating func note(_ effect: CallStateMachine.Effect) {
        switch effect {
        case .greet(let device, let user, let calls):
            greetings[device] = calls
            checker.greeted(device, of: user, calls)
        case .send(let event, let devices):
            for device in devices { heard[device, default: []].append(event) }
            checker.told(event, to: devices, owners)
        case .reply(let reply, let requester): answers[requester, default: []].append(.reply(reply))
        case .admit(_, let call, let requester): answers[requester, default: []].append(.admitted(call))
        case .reject(let refusal, let requester): answers[requester, default: []].append(.refused(refusal))
        case .close(let device): owners[device] = nil
        case .dispatch, .recall, .hold, .mute, .remove, .endRoom, .record: break
        }
    }

    /// Lets time pass, and wakes the desk whenever it wants to be.
    mutating func pass(_ span: Duration) {
        let end = now + span
        var passed: [CallStateMachine.Effect] = []
        while let deadline = desk.deadline, deadline <= end {
            now = max(now, deadline)
            happens(.deadlinePassed)
            passed += effects
            if let next = desk.deadline { #expect(next > now, "a deadline that has been met must not stay") }
        }
        now = end
        effects = passed
    }

    /// `name` is the device's: "bob.phone" belongs to bob.
    @discardableResult
    mutating func connect(_ name: String) -> DeviceID {
        lastNumber += 1
        let device = DeviceID(text: "\(name)#\(lastNumber)")
        let user = Identity(text: String(name.prefix { $0 != "." }))
        owners[device] = user
        happens(.connected(device, of: user))
        return device
    }

    mutating func disconnect(_ device: DeviceID) {
        owners[device] = nil
        happens(.disconnected(device))
    }

    @discardableResult
    mutating func ask(_ device: DeviceID, _ request: CallRequest) -> Answer? {
        lastNumber += 1
        return ask(.device(device, id: lastNumber), request)
    }

    @discardableResult
    mutating func askByWeb(_ user: Identity, _ request: CallRequest) -> Answer? {
        lastNumber += 1
        return ask(.web(user, ticket: lastNumber), request)
    }

    private mutating func ask(_ requester: CallStateMachine.Requester, _ request: CallRequest) -> Answer? {
        happens(.request(request, from: requester))
        #expect(answers[requester]?.count == 1, "every request has exactly one answer")
        return answers[requester]?.first
    }

    /// Rings, and gives the call's id.
    mutating func call(_ device: DeviceID, _ to: String...) -> CallID {
        let answer = ask(device, .start(CallStart(to: to.compactMap(CallParty.init(text:)))))
        return answer?.call?.id ?? CallID(text: "none")
    }

    // MARK: What was told

    /// The last step in short: what was told to whom, and what else was to be done.
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
        case .reject(let refusal, let requester): "refuse \(refusal.error.code) > \(name(requester))"
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

    func kinds(_ device: DeviceID) -> [String] { (heard[device] ?? []).map { String($0.kind.rawValue.dropFirst(5)) } }

    func status(_ device: DeviceID) -> CallStatus? { heard[device]?.last?.call.status }
}

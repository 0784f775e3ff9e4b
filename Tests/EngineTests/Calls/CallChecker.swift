import Engine
import Testing
import Wire

/// Watches what devices are told: each call is one history, and no device has another, or a gap in it.
struct CallChecker {
    private struct Place: Hashable {
        var device: DeviceID
        var call: CallID
    }

    private var histories: [CallID: [UInt64: CallEvent]] = [:]
    /// The last number that a device knows of a call.
    private var known: [Place: UInt64] = [:]
    private var ended: Set<Place> = []
    private var leftIn: [Place: Int] = [:]
    private var steps = 0

    mutating func nextStep() { steps += 1 }

    mutating func greeted(_ device: DeviceID, of user: Identity, _ calls: [CallInfo]) {
        for call in calls {
            if call.status.isOver { Issue.record("\(device) is greeted with \(call.id), which is over") }
            if call.member(CallParty(user))?.state == .left { Issue.record("\(device) is greeted with \(call.id), which \(user) has left") }
            known[Place(device: device, call: call.id)] = call.seq
        }
    }

    mutating func told(_ event: CallEvent, to devices: [DeviceID], _ owners: [DeviceID: Identity]) {
        let call = event.call
        if Set(devices).count != devices.count { Issue.record("\(call.id) event \(call.seq) is told to a device twice") }
        var plain = event
        if event.kind == .incoming { plain.kind = call.seq == 1 ? .started : .invited }
        if let told = histories[call.id]?[call.seq], told != plain { Issue.record("\(call.id) has two events \(call.seq)") }
        histories[call.id, default: [:]][call.seq] = plain
        for device in devices {
            let place = Place(device: device, call: call.id)
            if ended.contains(place) { Issue.record("\(device) is told \(event.kind) after the end of \(call.id)") }
            if event.kind == .ended { ended.insert(place) }
            guard let user = owners[device], let member = call.member(CallParty(user)) else {
                Issue.record("\(device) is told of \(call.id), which is not its user's")
                continue
            }
            if let last = known[place], event.kind != .incoming, call.seq != last + 1 {
                Issue.record("\(device) knows \(call.id) up to \(last) and is told \(call.seq)")
            }
            if known[place] == nil && ![.started, .incoming].contains(event.kind) {
                Issue.record("\(device) hears of \(call.id) for the first time by \(event.kind)")
            }
            known[place] = call.seq
            // Who has left is told so, and what the same step brings about; from the next step on nothing.
            if member.state == .left, let step = leftIn[place], step != steps {
                Issue.record("\(device) has left \(call.id) and is told \(event.kind)")
            }
            leftIn[place] = member.state == .left ? steps : nil
        }
    }

    /// What a device has been told to be the state of its call, at last.
    func lastKnown(_ device: DeviceID, _ call: CallID) -> CallInfo? {
        known[Place(device: device, call: call)].flatMap { histories[call]?[$0]?.call }
    }
}

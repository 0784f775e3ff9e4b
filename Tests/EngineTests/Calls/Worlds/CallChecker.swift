import Engine
import Testing
import Wire

/// Checks the events of devices: all devices see the same history of a call, without gaps.
struct CallChecker {
    private struct DeviceCall: Hashable {
        var device: DeviceID
        var call: CallID
    }

    private var histories: [CallID: [UInt64: CallEvent]] = [:]
    /// The last sequence number that a device received of a call.
    private var known: [DeviceCall: UInt64] = [:]
    private var ended: Set<DeviceCall> = []
    private var leftIn: [DeviceCall: Int] = [:]
    private var steps = 0

    mutating func nextStep() { steps += 1 }

    mutating func recordHello(_ device: DeviceID, of user: Identity, _ calls: [CallInfo]) {
        for call in calls {
            if call.status.isOver { Issue.record("\(device) gets a hello with \(call.id), which is over") }
            if call.member(CallParty(user))?.state == .left {
                Issue.record("\(device) gets a hello with \(call.id), which \(user) has left")
            }
            known[DeviceCall(device: device, call: call.id)] = call.seq
        }
    }

    mutating func recordEvent(_ event: CallEvent, to devices: [DeviceID], _ owners: [DeviceID: Identity]) {
        let call = event.call
        if Set(devices).count != devices.count { Issue.record("\(call.id) event \(call.seq) is sent to a device twice") }
        var plain = event
        if event.kind == .incoming { plain.kind = call.seq == 1 ? .started : .invited }
        if let earlier = histories[call.id]?[call.seq], earlier != plain { Issue.record("\(call.id) has two events \(call.seq)") }
        histories[call.id, default: [:]][call.seq] = plain
        for device in devices {
            let key = DeviceCall(device: device, call: call.id)
            if ended.contains(key) { Issue.record("\(device) receives \(event.kind) after the end of \(call.id)") }
            if event.kind == .ended { ended.insert(key) }
            guard let user = owners[device], let member = call.member(CallParty(user)) else {
                Issue.record("\(device) receives \(call.id), which its user is not part of")
                continue
            }
            if let last = known[key], event.kind != .incoming, call.seq != last + 1 {
                Issue.record("\(device) knows \(call.id) up to \(last) and receives \(call.seq)")
            }
            if known[key] == nil && ![.started, .incoming].contains(event.kind) {
                Issue.record("\(device) first learns of \(call.id) by \(event.kind)")
            }
            known[key] = call.seq
            // A member that leaves receives the events of that step, and none of later steps.
            if member.state == .left, let step = leftIn[key], step != steps {
                Issue.record("\(device) has left \(call.id) and receives \(event.kind)")
            }
            leftIn[key] = member.state == .left ? steps : nil
        }
    }

    /// The state of a call as last sent to a device.
    func lastKnown(_ device: DeviceID, _ call: CallID) -> CallInfo? {
        known[DeviceCall(device: device, call: call)].flatMap { histories[call]?[$0]?.call }
    }
}

import Engine
import Testing
import Wire

/// Two devices per side, and every order of their actions.
struct SmallCallWorldTests {
    enum Action: CaseIterable {
        case bobsPhoneAnswers, bobsCarAnswers, annCancels, bobsPhoneRejects, annsTabletHangsUp, timePasses
        case bobsCarHangsUp, annLeavesRoom, bobsPhoneHolds
    }

    private struct Sides {
        var world = CallWorld()
        let (ann, tablet, phone, car): (DeviceID, DeviceID, DeviceID, DeviceID)
        let call: CallID
        /// The successful requests, in order.
        var done: [Action] = []
        private var hasRungOut = false

        init() {
            ann = world.connect("ann.phone")
            tablet = world.connect("ann.tablet")
            phone = world.connect("bob.phone")
            car = world.connect("bob.car")
            call = world.call(ann, "bob")
        }

        var devices: [DeviceID] { [ann, tablet, phone, car] }

        mutating func take(_ action: Action) {
            switch action {
            case .bobsPhoneAnswers: send(phone, .answer(call), action)
            case .bobsCarAnswers: send(car, .answer(call), action)
            case .annCancels: send(ann, .cancel(call), action)
            case .bobsPhoneRejects: send(phone, .reject(call, CallRejection()), action)
            case .annsTabletHangsUp: send(tablet, .hangUp(call), action)
            case .bobsCarHangsUp: send(car, .hangUp(call), action)
            case .bobsPhoneHolds: send(phone, .hold(call, held: true), action)
            case .annLeavesRoom: world.receive(.leftRoom(call, .user("ann")))
            case .timePasses:
                for name in ["ann", "bob"] as [Identity] { world.receive(.joinedRoom(call, .user(name))) }
                // Shorter than an ended call is kept.
                world.pass(.seconds(hasRungOut ? 5 : 45))
                hasRungOut = true
            }
        }

        private mutating func send(_ device: DeviceID, _ request: CallRequest, _ action: Action) {
            switch world.send(device, request) {
            case .rejected(let error):
                if error.error.code != .conflict { Issue.record("\(action) is answered \(error.error)") }
                let known = world.checker.lastKnown(device, call)
                if error.call != known { Issue.record("\(action): the error and the device have different call states") }
            case .reply, .admitted: done.append(action)
            case nil: Issue.record("\(action) was not answered")
            }
        }

        /// The expected outcome, derived from the successful requests.
        var outcome: CallStatus {
            if done.contains(where: { [.bobsPhoneAnswers, .bobsCarAnswers].contains($0) }) { return .completed }
            if done.contains(.bobsPhoneRejects) { return .rejected }
            if done.contains(.annCancels) || done.contains(.annsTabletHangsUp) { return .cancelled }
            return .timeout
        }
    }

    @Test("Every permutation of six actions ends in one state, and all devices receive it", arguments: Action.allCases.prefix(6))
    func permutations(_ first: Action) {
        var count = 0
        func go(_ chosen: [Action], _ left: [Action]) {
            if left.isEmpty {
                play(chosen)
                count += 1
            }
            for action in left { go(chosen + [action], left.filter { $0 != action }) }
        }
        go([first], Action.allCases.prefix(6).filter { $0 != first })
        #expect(count == 120)
    }

    @Test("So does every sequence of four of nine, with repetitions", arguments: Action.allCases)
    func sequences(_ first: Action) {
        for second in Action.allCases {
            for third in Action.allCases {
                for fourth in Action.allCases { play([first, second, third, fourth]) }
            }
        }
    }

    private func play(_ actions: [Action]) {
        var sides = Sides()
        for action in actions { sides.take(action) }
        let leftRoom = actions.contains(.annLeavesRoom)
        // Ends the call if it is still active.
        sides.take(.annsTabletHangsUp)
        let histories = sides.devices.map { sides.world.received[$0] ?? [] }
        let ends = histories.map { $0.last }
        guard ends.allSatisfy({ $0?.kind == .ended }), sides.world.machine.count == 0 else {
            Issue.record("\(actions) does not end: \(ends.map { $0?.kind })")
            return
        }
        // Leaving the room before an answer cancels the call without a request.
        let outcome = sides.outcome == .timeout && leftRoom ? sides.world.status(sides.ann) : sides.outcome
        for end in ends where end?.call.status != outcome {
            Issue.record("\(actions): \(String(describing: end?.call.status)) instead of \(String(describing: outcome))")
        }
        if Set(histories.map(\.count)).count != 1 { Issue.record("\(actions): some were told more than others") }
        let admissions = sides.done.count { [.bobsPhoneAnswers, .bobsCarAnswers].contains($0) }
        if admissions > 1 { Issue.record("\(actions): two devices have answered") }
        sides.world.pass(.seconds(200))
        if sides.world.machine.deadline != nil { Issue.record("\(actions): the desk has something left to do") }
    }
}

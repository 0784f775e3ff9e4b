import Engine
import Sockets
import Wire

/// How calls begin: paced, a connection for each slot, then `hello`, then a track, and when all have theirs the call talks.
extension Swarm {
    private static let publish = [
        OutgoingRequest(.publish(PublishTrack(name: "mic", source: .microphone)), id: 1).bytes,
        OutgoingRequest(.publish(PublishTrack(name: "voice", source: .assistant)), id: 1).bytes,
    ]

    func startCalls(_ now: UInt64) {
        while let first = comingBack.first, first.at <= now {
            comingBack.removeFirst()
            guard calls[first.call].phase == .cut else { continue }
            // As long as an old connection is not closed there is no slot for a new one.
            if calls[first.call].open == 0 {
                start(first.call, now)
                for slot in members(of: first.call) where calls[first.call].phase == .joining { connect(slot, now) }
            } else {
                comingBack.append((now + 20_000_000, first.call))
            }
        }
        guard phase < .draining else { return }
        while nextStart <= now, let slot = nextSlot(now) {
            connect(slot, now)
            nextStart += UInt64(1e9 / scenario.joinsPerSecond)
        }
        // What could not be started is not made up for in one go.
        if nextStart < now { nextStart = now }
    }

    /// Of the call that is under way, or of the next one that may begin.
    private func nextSlot(_ now: UInt64) -> Int? {
        if slotsToConnect.isEmpty, let call = startable.popLast() {
            lastCallNumber += 1
            calls[call].number = lastCallNumber
            calls[call].cutAt = 0
            firstRoundLeft -= firstRoundLeft > 0 ? 1 : 0
            start(call, now)
            slotsToConnect = members(of: call).reversed()
        }
        return slotsToConnect.popLast()
    }

    private func start(_ call: Int, _ now: UInt64) {
        calls[call].phase = .joining
        calls[call].awaited = scenario.membersPerCall
        calls[call].endsAt = .max
    }

    private func connect(_ index: Int, _ now: UInt64) {
        let slot = slots.baseAddress! + index
        let call = calls[slot.pointee.call]
        // An assistant is an agent: for it the gateway lets frames grow older rather than lose them.
        let isAssistant = scenario.listenersPerRoom == nil && slot.pointee.member == 1
        guard
            let endpoint = try? gate.endpoint(
                room: "load-\(scenario.seed)-\(call.number)", identity: "\(isAssistant ? "assistant" : "user")-\(slot.pointee.member)",
                kind: isAssistant ? .agent : .standard)
        else { return fail(slot, "the token cannot be signed") }
        total.connectionsAsked += 1
        slot.pointee.state = .connecting
        slot.pointee.connection = nil
        slot.pointee.isTalking = false
        slot.pointee.isStopped = false
        slot.pointee.connectStarted = now
        calls[slot.pointee.call].open += 1
        connecting = index
        let connection = loop.connect(to: endpoint)
        connecting = -1
        guard slot.pointee.state == .connecting else { return }
        connection.slot = index
        slot.pointee.connection = connection
    }

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        tally.controlReceived += 1
        guard let slot = slot(of: connection) else { return }
        // Most events are for others than us: they are counted and not parsed.
        if slot.pointee.state == .ready, ControlText.isOfNoInterest(message) { return }
        switch try? ServerMessage(parsing: Array(message)) {
        case .event(.hello, _): welcomed(slot, connection)
        case .reply(re: 1, let fields):
            guard let track = fields.track, slot.pointee.state == .joined else { return }
            slot.pointee.alias = track.alias.value
            lastTrack += 1
            slot.pointee.track = lastTrack
            becameReady(slot)
        case .error(_, let error):
            total.errorReplies += 1
            total.note("the gateway answered \(error.code): \(error.message)")
        default: break
        }
    }

    private func welcomed(_ slot: UnsafeMutablePointer<Slot>, _ connection: Connection) {
        guard slot.pointee.state == .connecting else { return }
        slot.pointee.state = .joined
        total.joined += 1
        let now = clock
        total.join.record(nanoseconds: now &- slot.pointee.connectStarted)
        if phase == .ramping { timeline.joined(at: now) }
        if slot.pointee.publishes {
            connection.write(text: Self.publish[slot.pointee.member])
        } else {
            becameReady(slot)
        }
    }

    private func becameReady(_ slot: UnsafeMutablePointer<Slot>) {
        slot.pointee.state = .ready
        let call = calls.baseAddress! + slot.pointee.call
        call.pointee.awaited -= 1
        guard call.pointee.awaited == 0, call.pointee.phase == .joining else { return }
        let now = clock
        call.pointee.phase = .talking
        call.pointee.brokeInAt = 0
        let chance = SplitMix64(seed: scenario.seed, index: call.pointee.number)
        call.pointee.beginTalking(scenario, chance: chance, round: sendGrid.round + 1, at: now)
        let first = slot.pointee.call * scenario.membersPerCall
        for index in first..<first + scenario.membersPerCall where slots[index].hears >= 0 {
            slots[index].reception = Reception(from: slots[slots[index].hears].sequence)
        }
        if call.pointee.cutAt > 0 { total.rejoin.record(nanoseconds: now &- call.pointee.cutAt) }
    }
}

extension Call {
    /// - Parameter round: of the send grid, in which nobody speaks yet.
    mutating func beginTalking(_ scenario: Scenario, chance: SplitMix64, round first: UInt64, at instant: UInt64) {
        var chance = chance
        if let mean = scenario.meanCallSeconds { endsAt = instant + UInt64((0.2 + chance.exponential(mean: mean)) * 1e9) }
        guard scenario.pattern == .conversation, scenario.listenersPerRoom == nil else {
            conversation = nil
            now = scenario.pattern == .silent ? Talk(user: false, assistant: false) : .both
            next = now
            return
        }
        conversation = Conversation(chance: chance, bargeInShare: scenario.bargeInShare)
        firstRound = first
        round = first
        now = Talk(user: false, assistant: false)
        next = now
    }
}

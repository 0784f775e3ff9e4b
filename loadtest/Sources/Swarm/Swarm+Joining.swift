import Engine
import Sockets
import Wire

/// Starting calls at the configured rate: connect each slot, wait for `hello`, publish; when all slots are ready, the call talks.
extension Swarm {
    private static let publish = [
        OutgoingRequest(.publish(PublishTrack(name: "mic", source: .microphone)), id: 1).bytes,
        OutgoingRequest(.publish(PublishTrack(name: "voice", source: .assistant)), id: 1).bytes,
    ]

    func startCalls(_ now: UInt64) {
        while let first = reconnects.first, first.at <= now {
            reconnects.removeFirst()
            guard calls[first.call].phase == .disconnected else { continue }
            // Slots are free only after their old connections have closed.
            if calls[first.call].openConnections == 0 {
                start(first.call, now)
                for slot in members(of: first.call) where calls[first.call].phase == .joining { connect(slot, now) }
            } else {
                reconnects.append((now + 20_000_000, first.call))
            }
        }
        guard phase < .draining else { return }
        while nextStart <= now, let slot = nextSlot(now) {
            connect(slot, now)
            nextStart += UInt64(1e9 / scenario.joinsPerSecond)
        }
        // Do not make up for missed starts in one burst.
        if nextStart < now { nextStart = now }
    }

    /// The next slot of the call that is starting, or the first of the next call.
    private func nextSlot(_ now: UInt64) -> Int? {
        if slotsToConnect.isEmpty, !startable.isEmpty {
            let fed = rooms?.next()
            guard rooms == nil || fed != nil, let call = startable.popLast() else { return nil }
            tokens[call] = fed ?? []
            lastCallNumber += 1
            calls[call].number = lastCallNumber
            calls[call].disconnectedAt = 0
            initialCallsLeft -= initialCallsLeft > 0 ? 1 : 0
            start(call, now)
            slotsToConnect = members(of: call).reversed()
        }
        return slotsToConnect.popLast()
    }

    private func start(_ call: Int, _ now: UInt64) {
        calls[call].phase = .joining
        calls[call].pendingSlots = scenario.membersPerCall
        calls[call].endsAt = .max
    }

    private func connect(_ index: Int, _ now: UInt64) {
        let slot = slots.baseAddress! + index
        let call = calls[slot.pointee.call]
        // An assistant joins as an agent, for which the gateway queues frames longer.
        let isAssistant = scenario.listenersPerRoom == nil && slot.pointee.member == 1
        let fed = tokens[slot.pointee.call]
        let made =
            fed.isEmpty
            ? try? target.endpoint(
                room: "load-\(scenario.seed)-\(call.number)", identity: "\(isAssistant ? "assistant" : "user")-\(slot.pointee.member)",
                kind: isAssistant ? .agent : .standard)
            : target.endpoint(token: fed[slot.pointee.member])
        guard let endpoint = made else { return fail(slot, "the token cannot be signed") }
        total.connectionsAttempted += 1
        slot.pointee.state = .connecting
        slot.pointee.connection = nil
        slot.pointee.isTalking = false
        slot.pointee.isPaused = false
        slot.pointee.connectStarted = now
        calls[slot.pointee.call].openConnections += 1
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
        // Most events are irrelevant here: count them without parsing.
        if slot.pointee.state == .ready, ControlText.isIgnorable(message) { return }
        switch try? ServerMessage(parsing: Array(message)) {
        case .event(.hello, _): receivedHello(slot, connection)
        case .reply(re: 1, let fields):
            guard let track = fields.track, slot.pointee.state == .joined else { return }
            slot.pointee.alias = track.alias.value
            lastTrack += 1
            slot.pointee.track = lastTrack
            becameReady(slot)
        case .error(_, let error):
            total.errorReplies += 1
            total.recordProblem("the gateway replied \(error.code): \(error.message)")
        default: break
        }
    }

    private func receivedHello(_ slot: UnsafeMutablePointer<Slot>, _ connection: Connection) {
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
        call.pointee.pendingSlots -= 1
        guard call.pointee.pendingSlots == 0, call.pointee.phase == .joining else { return }
        let now = clock
        call.pointee.phase = .talking
        call.pointee.bargeInAt = 0
        let random = SplitMix64(seed: scenario.seed, index: call.pointee.number)
        call.pointee.beginTalking(scenario, random: random, round: sendGrid.round + 1, at: now)
        let first = slot.pointee.call * scenario.membersPerCall
        for index in first..<first + scenario.membersPerCall where slots[index].subscribesTo >= 0 {
            slots[index].reception = Reception(from: slots[slots[index].subscribesTo].sequence)
        }
        if call.pointee.disconnectedAt > 0 { total.rejoin.record(nanoseconds: now &- call.pointee.disconnectedAt) }
    }
}

extension Call {
    /// - Parameter round: a round of the send grid, in which nobody speaks yet.
    mutating func beginTalking(_ scenario: Scenario, random: SplitMix64, round first: UInt64, at instant: UInt64) {
        var random = random
        if let mean = scenario.meanCallSeconds { endsAt = instant + UInt64((0.2 + random.exponential(mean: mean)) * 1e9) }
        guard scenario.pattern == .conversation, scenario.listenersPerRoom == nil else {
            conversation = nil
            now = scenario.pattern == .silent ? Talk(user: false, assistant: false) : .both
            next = now
            return
        }
        conversation = Conversation(random: random, bargeInShare: scenario.bargeInShare)
        firstRound = first
        round = first
        now = Talk(user: false, assistant: false)
        next = now
    }
}

/// Classifies text messages by their first bytes, `{"type":"…`, without parsing them.
enum ControlText {
    /// True unless the message is `hello`, a reply or an error.
    static func isIgnorable(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = #"{"type":""#.utf8.count
        guard text.count > start + 5, let base = text.baseAddress else { return false }
        return !begins(base + start, "hello") && !begins(base + start, "reply") && !begins(base + start, "error")
    }

    private static func begins(_ text: UnsafeRawPointer, _ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount where text.load(fromByteOffset: index, as: UInt8.self) != word.utf8Start[index] {
            return false
        }
        return true
    }
}

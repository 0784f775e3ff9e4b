import Engine
import Sockets
import Wire

/// How calls begin: paced, a connection for each seat, then `hello`, then a track, and when all have theirs the call talks.
extension Swarm {
    private static let publish = [
        OutgoingRequest(.publish(PublishTrack(name: "mic", source: .microphone)), id: 1).bytes,
        OutgoingRequest(.publish(PublishTrack(name: "voice", source: .assistant)), id: 1).bytes,
    ]

    func startCalls(_ now: UInt64) {
        while let first = comingBack.first, first.at <= now {
            comingBack.removeFirst()
            guard calls[first.call].phase == .cut else { continue }
            // As long as an old connection is not closed there is no seat for a new one.
            if calls[first.call].open == 0 {
                start(first.call, now)
                for seat in members(of: first.call) where calls[first.call].phase == .joining { connect(seat, now) }
            } else {
                comingBack.append((now + 20_000_000, first.call))
            }
        }
        guard phase < .draining else { return }
        while nextStart <= now, let seat = nextSeat(now) {
            connect(seat, now)
            nextStart += UInt64(1e9 / scenario.joinsPerSecond)
        }
        // What could not be started is not made up for in one go.
        if nextStart < now { nextStart = now }
    }

    /// Of the call that is under way, or of the next one that may begin.
    private func nextSeat(_ now: UInt64) -> Int? {
        if seatsToConnect.isEmpty, let call = startable.popLast() {
            lastCallNumber += 1
            calls[call].number = lastCallNumber
            calls[call].cutAt = 0
            firstRoundLeft -= firstRoundLeft > 0 ? 1 : 0
            start(call, now)
            seatsToConnect = members(of: call).reversed()
        }
        return seatsToConnect.popLast()
    }

    private func start(_ call: Int, _ now: UInt64) {
        calls[call].phase = .joining
        calls[call].awaited = scenario.membersPerCall
        calls[call].endsAt = .max
    }

    private func connect(_ index: Int, _ now: UInt64) {
        let seat = seats.baseAddress! + index
        let call = calls[seat.pointee.call]
        // An assistant is an agent: for it the gateway lets frames grow older rather than lose them.
        let isAssistant = scenario.listenersPerRoom == nil && seat.pointee.member == 1
        guard
            let endpoint = try? gate.endpoint(
                room: "load-\(scenario.seed)-\(call.number)", identity: "\(isAssistant ? "assistant" : "user")-\(seat.pointee.member)",
                kind: isAssistant ? .agent : .standard)
        else { return fail(seat, "the token cannot be signed") }
        total.connectionsAsked += 1
        seat.pointee.state = .connecting
        seat.pointee.connection = nil
        seat.pointee.isTalking = false
        seat.pointee.isStopped = false
        seat.pointee.connectStarted = now
        calls[seat.pointee.call].open += 1
        connecting = index
        let connection = loop.connect(to: endpoint)
        connecting = -1
        guard seat.pointee.state == .connecting else { return }
        connection.seat = index
        seat.pointee.connection = connection
    }

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        tally.controlReceived += 1
        guard let seat = seat(of: connection) else { return }
        // Most events are for others than us: they are counted and not parsed.
        if seat.pointee.state == .ready, ControlText.isOfNoInterest(message) { return }
        switch try? ServerMessage(parsing: Array(message)) {
        case .event(.hello, _): welcomed(seat, connection)
        case .reply(re: 1, let fields):
            guard let track = fields.track, seat.pointee.state == .joined else { return }
            seat.pointee.alias = track.alias.value
            lastTrack += 1
            seat.pointee.track = lastTrack
            becameReady(seat)
        case .error(_, let error):
            total.errorReplies += 1
            total.note("the gateway answered \(error.code): \(error.message)")
        default: break
        }
    }

    private func welcomed(_ seat: UnsafeMutablePointer<Seat>, _ connection: Connection) {
        guard seat.pointee.state == .connecting else { return }
        seat.pointee.state = .joined
        total.joined += 1
        let now = clock
        total.join.record(nanoseconds: now &- seat.pointee.connectStarted)
        if phase == .ramping { timeline.joined(at: now) }
        if seat.pointee.publishes {
            connection.write(text: Self.publish[seat.pointee.member])
        } else {
            becameReady(seat)
        }
    }

    private func becameReady(_ seat: UnsafeMutablePointer<Seat>) {
        seat.pointee.state = .ready
        let call = calls.baseAddress! + seat.pointee.call
        call.pointee.awaited -= 1
        guard call.pointee.awaited == 0, call.pointee.phase == .joining else { return }
        let now = clock
        call.pointee.phase = .talking
        call.pointee.brokeInAt = 0
        let chance = SplitMix64(seed: scenario.seed, index: call.pointee.number)
        call.pointee.beginTalking(scenario, chance: chance, round: sendGrid.round + 1, at: now)
        let first = seat.pointee.call * scenario.membersPerCall
        for index in first..<first + scenario.membersPerCall where seats[index].hears >= 0 {
            seats[index].reception = Reception(from: seats[seats[index].hears].sequence)
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

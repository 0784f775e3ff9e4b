import Sockets
import Wire

/// Ending calls: normally, after frames in transit have arrived and missing ones were counted, or after a failure.
extension Swarm {
    private static let leave = OutgoingRequest(.leave(reason: nil)).bytes
    /// Time for frames in transit, in nanoseconds; later ones count as lost.
    private static let drainGrace: UInt64 = 300_000_000

    func endIfDue(_ index: Int, _ now: UInt64) {
        if calls[index].phase == .talking, now >= calls[index].endsAt {
            calls[index].phase = .ending
            calls[index].drainedAt = now + Self.drainGrace
        } else if calls[index].phase == .ending, now >= calls[index].drainedAt {
            countMissing(index)
            leave(index, now)
            total.callsEnded += 1
        }
    }

    /// Counts frames that have not arrived as lost.
    func countMissing(_ index: Int) {
        for slot in members(of: index) where slots[slot].state == .ready && slots[slot].subscribesTo >= 0 {
            let publisher = slots[slots[slot].subscribesTo]
            let missing = Reception.part(
                of: slots[slot].reception.missing(before: publisher.sequence), before: publisher.sequence, since: publisher.measuredFrom)
            if slots[slot].isSlow { tally.slowLost += missing } else { tally.lost += missing }
        }
    }

    func leave(_ index: Int, _ now: UInt64) {
        calls[index].phase = .leaving
        for slot in members(of: index) {
            guard let connection = slots[slot].connection, slots[slot].state != .empty else { continue }
            if slots[slot].isPaused { connection.setReading(true) }
            slots[slot].state = .leaving
            slots[slot].leavingSince = now
            if !connection.write(text: Self.leave) { connection.abort() }
        }
        vacateIfEmpty(index)
    }

    func members(of call: Int) -> Range<Int> {
        call * scenario.membersPerCall..<(call + 1) * scenario.membersPerCall
    }

    // MARK: SocketDelegate

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        guard let slot = slot(of: connection), slot.pointee.state != .empty else { return }
        let call = slot.pointee.call
        let wasExpected = slot.pointee.state == .leaving || calls[call].phase == .disconnected
        vacate(slot)
        if !wasExpected {
            total.connectionsLost += 1
            total.recordProblem(
                "a connection was closed by the gateway\(connection.peerCloseCode.map { " with \($0)" } ?? " without a close code")")
            abandon(call)
        }
        vacateIfEmpty(call)
    }

    func failed(_ connection: Connection, _ error: ConnectError) {
        guard let slot = slot(of: connection), slot.pointee.state != .empty else { return }
        guard slot.pointee.state != .leaving else {
            vacate(slot)
            return vacateIfEmpty(slot.pointee.call)
        }
        fail(slot, "a join failed: \(describe(error.message))\(error.code.map { " (\($0))" } ?? "")")
    }

    /// Translates libwebsockets' message for a port without a listener.
    private func describe(_ message: String) -> String {
        message.hasPrefix("closed before established") ? "the connection was refused" : message
    }

    func fail(_ slot: UnsafeMutablePointer<Slot>, _ problem: String) {
        let call = slot.pointee.call
        total.joinsFailed += 1
        total.recordProblem(problem)
        if slot.pointee.state != .empty { vacate(slot) }
        abandon(call)
        vacateIfEmpty(call)
    }

    private func vacate(_ slot: UnsafeMutablePointer<Slot>) {
        slot.pointee.state = .empty
        slot.pointee.connection = nil
        calls[slot.pointee.call].openConnections -= 1
    }

    /// Ends the call for the other members after one connection failed.
    private func abandon(_ call: Int) {
        guard calls[call].phase != .leaving else { return }
        calls[call].phase = .leaving
        slotsToConnect.removeAll { slots[$0].call == call }
        let now = clock
        for slot in members(of: call) where slots[slot].state != .empty {
            slots[slot].state = .leaving
            slots[slot].leavingSince = now
            slots[slot].connection?.abort()
        }
    }

    private func vacateIfEmpty(_ call: Int) {
        guard calls[call].openConnections == 0, calls[call].phase == .leaving else { return }
        calls[call].phase = .vacant
        let isRenewed = scenario.meanCallSeconds != nil || scenario.reconnectStorm != nil
        if isRenewed, phase < .draining { startable.insert(call, at: 0) }
    }
}

import Sockets
import Wire

/// How calls end: in peace, when what was on its way has arrived and was counted; or because something broke.
extension Swarm {
    private static let leave = OutgoingRequest(.leave(reason: nil)).bytes
    /// How long what is on its way may take before it counts as lost.
    private static let grace: UInt64 = 300_000_000

    func endIfTimeHasCome(_ index: Int, _ now: UInt64) {
        if calls[index].phase == .talking, now >= calls[index].endsAt {
            calls[index].phase = .ending
            calls[index].settlesAt = now + Self.grace
        } else if calls[index].phase == .ending, now >= calls[index].settlesAt {
            settle(index)
            leave(index, now)
            total.callsEnded += 1
        }
    }

    /// What has not come by now is lost.
    func settle(_ index: Int) {
        for slot in members(of: index) where slots[slot].state == .ready && slots[slot].hears >= 0 {
            let publisher = slots[slots[slot].hears]
            let missing = Reception.part(
                of: slots[slot].reception.missing(before: publisher.sequence), before: publisher.sequence, since: publisher.measuredFrom)
            if slots[slot].isSlow { tally.slowLost += missing } else { tally.lost += missing }
        }
    }

    func leave(_ index: Int, _ now: UInt64) {
        calls[index].phase = .leaving
        for slot in members(of: index) {
            guard let connection = slots[slot].connection, slots[slot].state != .empty else { continue }
            if slots[slot].isStopped { connection.setReading(true) }
            slots[slot].state = .leaving
            slots[slot].leavingSince = now
            if !connection.write(text: Self.leave) { connection.abort() }
        }
        vacateIfEmpty(index)
    }

    func members(of call: Int) -> Range<Int> {
        call * scenario.membersPerCall..<(call + 1) * scenario.membersPerCall
    }

    // MARK: What the loop tells

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        guard let slot = slot(of: connection), slot.pointee.state != .empty else { return }
        let call = slot.pointee.call
        let wasWanted = slot.pointee.state == .leaving || calls[call].phase == .cut
        vacate(slot)
        if !wasWanted {
            total.died += 1
            total.note("a connection was closed by the gateway\(connection.peerCloseCode.map { " with \($0)" } ?? ", without a word")")
            breakUp(call)
        }
        vacateIfEmpty(call)
    }

    func failed(_ connection: Connection, _ error: ConnectionFailure) {
        guard let slot = slot(of: connection), slot.pointee.state != .empty else { return }
        guard slot.pointee.state != .leaving else {
            // It was us who gave it up.
            vacate(slot)
            return vacateIfEmpty(slot.pointee.call)
        }
        fail(slot, "a join failed: \(plain(error.message))\(error.code.map { " (\($0))" } ?? "")")
    }

    /// lws's words for a port where nobody listens.
    private func plain(_ words: String) -> String {
        words.hasPrefix("closed before established") ? "the connection was refused" : words
    }

    func fail(_ slot: UnsafeMutablePointer<Slot>, _ problem: String) {
        let call = slot.pointee.call
        total.joinsFailed += 1
        total.note(problem)
        if slot.pointee.state != .empty { vacate(slot) }
        breakUp(call)
        vacateIfEmpty(call)
    }

    private func vacate(_ slot: UnsafeMutablePointer<Slot>) {
        slot.pointee.state = .empty
        slot.pointee.connection = nil
        calls[slot.pointee.call].open -= 1
    }

    /// A call that has lost one of its own is over for the others too.
    private func breakUp(_ call: Int) {
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
        guard calls[call].open == 0, calls[call].phase == .leaving else { return }
        calls[call].phase = .vacant
        // Where calls come and go another one takes its place; else it is missing from now on.
        let isRenewed = scenario.meanCallSeconds != nil || scenario.reconnectStorm != nil
        if isRenewed, phase < .draining { startable.insert(call, at: 0) }
    }
}

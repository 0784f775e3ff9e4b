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
        for seat in members(of: index) where seats[seat].state == .ready && seats[seat].hears >= 0 {
            let publisher = seats[seats[seat].hears]
            let missing = Reception.part(
                of: seats[seat].reception.missing(before: publisher.sequence), before: publisher.sequence, since: publisher.measuredFrom)
            if seats[seat].isSlow { tally.slowLost += missing } else { tally.lost += missing }
        }
    }

    func leave(_ index: Int, _ now: UInt64) {
        calls[index].phase = .leaving
        for seat in members(of: index) {
            guard let connection = seats[seat].connection, seats[seat].state != .empty else { continue }
            if seats[seat].isStopped { connection.setReading(true) }
            seats[seat].state = .leaving
            seats[seat].leavingSince = now
            if !connection.write(text: Self.leave) { connection.abort() }
        }
        vacateIfEmpty(index)
    }

    func members(of call: Int) -> Range<Int> {
        call * scenario.membersPerCall..<(call + 1) * scenario.membersPerCall
    }

    // MARK: What the loop tells

    func closed(_ connection: Connection, _ end: SocketEnd) {
        guard let seat = seat(of: connection), seat.pointee.state != .empty else { return }
        let call = seat.pointee.call
        let wasWanted = seat.pointee.state == .leaving || calls[call].phase == .cut
        vacate(seat)
        if !wasWanted {
            total.died += 1
            total.note("a connection was closed by the gateway\(connection.peerCloseCode.map { " with \($0)" } ?? ", without a word")")
            breakUp(call)
        }
        vacateIfEmpty(call)
    }

    func failed(_ connection: Connection, _ error: ConnectError) {
        guard let seat = seat(of: connection), seat.pointee.state != .empty else { return }
        guard seat.pointee.state != .leaving else {
            // It was us who gave it up.
            vacate(seat)
            return vacateIfEmpty(seat.pointee.call)
        }
        fail(seat, "a join failed: \(plain(error.message))\(error.code.map { " (\($0))" } ?? "")")
    }

    /// lws's words for a port where nobody listens.
    private func plain(_ words: String) -> String {
        words.hasPrefix("closed before established") ? "the connection was refused" : words
    }

    func fail(_ seat: UnsafeMutablePointer<Seat>, _ problem: String) {
        let call = seat.pointee.call
        total.joinsFailed += 1
        total.note(problem)
        if seat.pointee.state != .empty { vacate(seat) }
        breakUp(call)
        vacateIfEmpty(call)
    }

    private func vacate(_ seat: UnsafeMutablePointer<Seat>) {
        seat.pointee.state = .empty
        seat.pointee.connection = nil
        calls[seat.pointee.call].open -= 1
    }

    /// A call that has lost one of its own is over for the others too.
    private func breakUp(_ call: Int) {
        guard calls[call].phase != .leaving else { return }
        calls[call].phase = .leaving
        seatsToConnect.removeAll { seats[$0].call == call }
        let now = clock
        for seat in members(of: call) where seats[seat].state != .empty {
            seats[seat].state = .leaving
            seats[seat].leavingSince = now
            seats[seat].connection?.abort()
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

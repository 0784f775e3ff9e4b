internal import Wire

/// The work that a loop collects within a turn and does at its end.
struct Turn {
    /// The longest time between two checks of messages that wait for the timer. Those due before the next check are sent at this one.
    static let timerMilliseconds: UInt64 = 20
    /// Sockets that are not WebSockets take this time of a turn before the rest is left to the next turn, so that a flood of them delays
    /// frames by little more than this.
    static let otherNanosecondsMax: UInt64 = 2_000_000

    var isBatch = false
    var otherNanoseconds: UInt64 = 0
    /// Connections with messages or control frames that wait for the end of the turn.
    var queue: [Connection] = []
    /// Connections with messages that wait for the loop's timer.
    var timerQueue: [Connection] = []

    mutating func takeTimerQueue() -> [Connection] {
        defer { timerQueue = [] }
        return timerQueue
    }
}

// MARK: Messages that wait

extension Loop {
    /// Writes during a batch of records are sent at its end.
    var isBatch: Bool { unsafe turn.isBatch }

    func batch(_ body: () -> Void) {
        unsafe turn.isBatch = true
        body()
        unsafe turn.isBatch = false
        flushTurn()
    }

    func flushAtTurnEnd(_ connection: Connection) {
        guard unsafe !connection.deferred.isOnTurnList else { return }
        unsafe connection.deferred.isOnTurnList = true
        unsafe turn.queue.append(connection)
    }

    func flushOnTimer(_ connection: Connection) {
        guard unsafe !connection.deferred.isOnTimerList else { return }
        unsafe connection.deferred.isOnTimerList = true
        if unsafe turn.timerQueue.isEmpty { uv.startTimer(withinMilliseconds: Turn.timerMilliseconds) }
        unsafe turn.timerQueue.append(connection)
    }

    private func flushTurn() {
        // Not an iteration over the array, because a flush may add to it, and its memory is kept for the next turn.
        var index = 0
        while unsafe index < turn.queue.count {
            unsafe turn.queue[index].finishTurn()
            index += 1
        }
        unsafe turn.queue.removeAll(keepingCapacity: true)
    }

    /// Messages that wait for the timer leave, except those of connections that have written meanwhile.
    func timerFired() {
        let due = unsafe turn.takeTimerQueue()
        unsafe delegate.timerRang()
        let next = now + .milliseconds(Int64(Turn.timerMilliseconds))
        for connection in due where connection.finishTimer(before: next) { unsafe turn.timerQueue.append(connection) }
    }
}

// MARK: The end of a turn

extension Loop {
    /// Whether sockets other than those of media may still be served in this turn.
    var othersMayRun: Bool { unsafe turn.otherNanoseconds < Turn.otherNanosecondsMax }
    func countOthers(_ nanoseconds: UInt64) { unsafe turn.otherNanoseconds += nanoseconds }

    /// The loop is about to wait for events: everything that waits for the end of the turn happens.
    func endTurn() {
        unsafe turn.otherNanoseconds = 0
        repeat {
            flushTurn()
            for ended in edges.takeEnded() { report(ended) }
        } while unsafe !turn.queue.isEmpty || edges.hasEnded
        edges.releaseClosed()
    }

    private func report(_ ended: EdgeConnection.Phase) {
        switch ended {
        case .requests(let requests):
            if !requests.hasHadARequest { counters.handshakesAbandoned += 1 }
            requests.ended()
        case .client(let upgrade): upgrade.ended()
        case .webSocket(let connection): connection.ended()
        case .tunnel(let end): end.ended()
        case .ending, .closed: break
        }
    }

    /// Ends the connections whose deadline has passed.
    ///
    /// - Returns: whether there are any left with one.
    func scanDeadlines() -> Bool {
        for edge in edges.takeExpired(at: now) { edge.expired() }
        return edges.hasDeadlines
    }
}

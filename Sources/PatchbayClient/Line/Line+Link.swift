internal import Sockets
internal import Wire

/// The connection: made, lost, found again, ended.
extension Line {
    /// How long the gateway has to close after we said that we leave.
    private static var leaveTimeout: Duration { .seconds(2) }

    /// How often it is looked again whether an attempt can be made.
    private static var readinessPause: Duration { .milliseconds(100) }

    final func connect() {
        let deadline = thread.now + patience
        phase = .connecting(until: deadline)
        thread.arm(at: deadline)
        let made = thread.connect(self, to: endpoint)
        // It may have failed within the call; `failed` has been told then.
        if case .connecting = phase, made.phase != .closed { connection = made }
    }

    /// `hello` has come.
    final func isOpen(_ beat: Heartbeat) {
        phase = .open
        attempt = 0
        isOpening = false
        heartbeat = beat
        thread.arm(at: beat.deadline)
    }

    /// Something came: the line lives.
    final func heard() {
        heartbeat?.heard(at: thread.now)
    }

    /// Takes another connection in place of the one there is, now: with another token, say.
    final func startOver() {
        switch phase {
        case .open: connection?.close(.left)
        case .connecting where !isOpening: connection?.abort()
        case .connecting, .resting, .leaving, .ended: return
        }
        drop()
        connect()
    }

    // MARK: Losing

    final func failed(_ error: Sockets.ConnectError) {
        drop()
        attemptFailed(ConnectError(error, at: address))
    }

    private func connectingTookTooLong() {
        connection?.abort()
        drop()
        attemptFailed(
            ConnectError(.timeout, "no answer from \(address.host) port \(address.port) within \(options.connectTimeout)"))
    }

    final func closed(_ closing: Connection, _ end: ConnectionEnd) {
        guard closing === connection else { return }
        let reason: Disconnection =
            switch end {
            case .closed(let reason): .closed(reason)
            case .lost: Disconnection(closeCode: closing.peerCloseCode)
            }
        if case .leaving = phase {
            drop()
            finish(.left)
        } else {
            lost(reason)
        }
    }

    /// The line is gone. Tries again where that makes sense.
    private func lost(_ reason: Disconnection) {
        drop()
        if isOpening {
            attemptFailed(ConnectError(.refused, "the gateway let us in and then went away: \(reason)"))
        } else if options.reconnect == .backOff, reason.isRetryable || isWorthAnotherTry(after: reason) {
            rest(because: reason, lastError: ConnectError(.unreachable, "\(reason)"))
        } else {
            finish(reason)
        }
    }

    private func attemptFailed(_ error: ConnectError) {
        if isOpening {
            isOpening = false
            finish(.attemptFailed(error))
            opened(failing: error)
        } else if error.isRetryable || isWorthAnotherTry(after: .attemptFailed(error)) {
            rest(because: .attemptFailed(error), lastError: error)
        } else {
            finish(.attemptFailed(error))
        }
    }

    private func rest(because reason: Disconnection, lastError: ConnectError) {
        attempt += 1
        guard let delay = BackOff.delay(beforeAttempt: attempt, jitter: .random(in: 0..<1)) else {
            finish(.gaveUp(lastError))
            return
        }
        rest(until: thread.now + delay)
        comesBack(attempt: attempt, after: delay, because: reason)
    }

    final func rest(until instant: Instant) {
        phase = .resting(until: instant)
        thread.arm(at: instant)
    }

    /// Lets go of the socket and of all that hangs on it.
    private func drop() {
        connection?.context = nil
        connection = nil
        heartbeat = nil
        dropped()
    }

    // MARK: Leaving

    final func leave(reason: String?, done: CheckedContinuation<Void, Never>?) {
        if let done { leavers.append(done) }
        switch phase {
        case .open:
            let deadline = thread.now + Self.leaveTimeout
            phase = .leaving(until: deadline)
            thread.arm(at: deadline)
            sayPendingClose(reason)
        case .connecting, .resting:
            connection?.abort()
            drop()
            finish(.left)
        case .leaving, .ended: break
        }
    }

    private func cutOffLeaving() {
        connection?.close(.left)
        drop()
        finish(.left)
    }

    private func finish(_ reason: Disconnection) {
        phase = .ended
        ended(reason)
        for leaver in leavers { leaver.resume() }
        leavers.removeAll()
        thread.remove(self)
    }

    // MARK: Time

    /// When `tick` is needed; nil if never.
    final var deadline: Instant? {
        switch phase {
        case .connecting(let until), .resting(let until), .leaving(let until): until
        case .open: [heartbeat?.deadline, workDeadline].compactMap(\.self).min()
        case .ended: nil
        }
    }

    final func tick(at now: Instant) {
        expireRequests(at: now)
        switch phase {
        case .connecting(let until): if now >= until { connectingTookTooLong() }
        case .resting(let until): if now >= until { isReadyToConnect ? connect() : rest(until: now + Self.readinessPause) }
        case .leaving(let until): if now >= until { cutOffLeaving() }
        case .open:
            pump()
            switch heartbeat?.verdict(at: now) {
            case .ping:
                ping(at: now)
                thread.arm(at: heartbeat?.deadline)
            case .dead:
                connection?.abort()
                lost(.pingTimeout)
            case .nothing, nil: break
            }
        case .ended: break
        }
    }
}

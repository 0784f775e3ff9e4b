internal import Sockets
internal import Wire

/// The connection: made, lost, found again, ended.
extension RoomSession {
    /// How long the gateway has to close after we said that we leave.
    private static var leaveTimeout: Duration { .seconds(2) }

    /// How long an attempt to take our place back may take: the place is kept for 20 s, and there is to be time for more than one.
    private static var resumeTimeout: Duration { .seconds(5) }

    func connect() {
        let patience = claim == nil ? plan.options.connectTimeout : min(plan.options.connectTimeout, Self.resumeTimeout)
        let deadline = thread.now + patience
        phase = .connecting(until: deadline)
        thread.arm(at: deadline)
        let endpoint = plan.address.endpoint(token: token, autoSubscribe: plan.options.autoSubscribe, resuming: claim)
        let made = thread.connect(self, to: endpoint)
        // It may have failed within the call; `failed` has been told then.
        if case .connecting = phase, made.phase != .closed { connection = made }
    }

    func failed(_ error: Sockets.ConnectError) {
        drop()
        attemptFailed(ConnectError(error, at: plan.address))
    }

    func connectingTookTooLong() {
        connection?.abort()
        drop()
        attemptFailed(
            ConnectError(
                .timeout, "no answer from \(plan.address.host) port \(plan.address.port) within \(plan.options.connectTimeout)"))
    }

    func closed(_ closing: Connection, _ end: SocketEnd) {
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
    func lost(_ reason: Disconnection) {
        drop()
        if opening != nil {
            attemptFailed(ConnectError(.refused, "the gateway let us in and then went away: \(reason)"))
        } else if plan.options.reconnect == .backOff, reason.isRetryable {
            rest(because: reason, lastError: ConnectError(.unreachable, "\(reason)"))
        } else {
            finish(reason)
        }
    }

    private func attemptFailed(_ error: ConnectError) {
        if let opening {
            self.opening = nil
            finish(.attemptFailed(error))
            opening.resume(returning: .failure(error))
        } else if error.isRetryable {
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
        let until = thread.now + delay
        phase = .resting(until: until)
        thread.arm(at: until)
        emit(.reconnecting(attempt: attempt, delay: delay, because: reason))
    }

    /// Lets go of the socket and of all that hangs on it. Our tracks stay: we may get our place back.
    ///
    /// What waits for an answer fails, for nobody knows whether it was done: the gateway does not answer on another socket.
    private func drop() {
        connection?.context = nil
        connection = nil
        heartbeat = nil
        let unsent = queue.removeAll() + aheadQueue.removeAll()
        mirror.count { $0.framesUnsent += UInt64(unsent) }
        for waiter in pending.takeAll() { fail(waiter, .notConnected) }
    }

    // MARK: Leaving

    func leave(reason: String?, done: CheckedContinuation<Void, Never>?) {
        if let done { leavers.append(done) }
        switch phase {
        case .open:
            let deadline = thread.now + Self.leaveTimeout
            phase = .leaving(until: deadline)
            thread.arm(at: deadline)
            pump()
            connection?.write(text: OutgoingRequest(.leave(reason: reason)).bytes)
        case .connecting, .resting:
            connection?.abort()
            drop()
            finish(.left)
        case .leaving, .ended: break
        }
    }

    func cutOffLeaving() {
        connection?.close(.left)
        drop()
        finish(.left)
    }

    private func finish(_ reason: Disconnection) {
        phase = .ended
        remote.finishAll()
        published.removeAll()
        plan.procedures.cancelAll()
        mirror.update { $0.disconnection = reason }
        emit(.disconnected(reason))
        plan.events.finish()
        for leaver in leavers { leaver.resume() }
        leavers.removeAll()
        thread.remove(self)
    }
}

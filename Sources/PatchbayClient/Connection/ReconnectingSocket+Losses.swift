internal import Wire

/// How a socket's connection or attempt ends, and whether another attempt follows.
extension ReconnectingSocket {
    func connectionFailed(_ error: any Error) {
        detach()
        attemptFailed(ConnectError(error, at: address))
    }

    func connectionRefused(status: Int, code: String?) {
        detach()
        attemptFailed(ConnectError(status: status, code: code, at: address))
    }

    func connectionClosed(_ reason: Disconnection) {
        if case .leaving = phase {
            detach()
            end(.left)
        } else {
            connectionLost(reason)
        }
    }

    func attemptTimedOut() {
        abortConnection()
        detach()
        attemptFailed(
            ConnectError(
                .timeout,
                "no answer from \(address.host) port \(address.port) within \(options.connectTimeout); check host, port and firewall"))
    }

    func connectionLost(_ reason: Disconnection) {
        detach()
        if attempts.isInitial {
            attemptFailed(ConnectError(.refused, "the gateway accepted the connection and then closed it: \(reason)"))
        } else if options.reconnect == .backOff, reason.isRetryable || shouldRetry(after: reason) {
            if case .closed(.moved) = reason { attempts.leaveNode() }
            scheduleAttempt(because: reason, lastError: ConnectError(.unreachable, "\(reason)"))
        } else {
            end(reason)
        }
    }

    private func attemptFailed(_ error: ConnectError) {
        if attempts.isInitial {
            end(.attemptFailed(error))
            completeOpening(.failure(error))
        } else if attempts.mayContinue(after: error) || shouldRetry(after: .attemptFailed(error)) {
            scheduleAttempt(because: .attemptFailed(error), lastError: error)
        } else {
            end(.attemptFailed(error))
        }
    }

    private func scheduleAttempt(because reason: Disconnection, lastError: ConnectError) {
        guard let delay = attempts.next(random: .random(in: 0..<1)) else { return end(.gaveUp(lastError)) }
        backOff(until: now + delay)
        willReconnect(attempt: attempts.number, after: delay, because: reason)
    }
}

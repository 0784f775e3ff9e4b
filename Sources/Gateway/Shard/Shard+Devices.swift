internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Sockets
internal import Wire

/// Users' own channels (PROTOCOL section 13): text in and out, and nothing decided here. What is asked goes to who keeps the calls; what is
/// to be told comes back through the mailbox.
extension Shard {
    static var devicePath: String { "/v1/events" }

    func deviceTicket(for request: UpgradeRequest) throws(HTTPError) -> DeviceTicket {
        guard let calls = common.calls else { preconditionFailure("the path is not there without calls") }
        let (bearer, expires) = try token(of: request) { text throws(TokenError) in try calls.verify(text, keys: keys) }
        return DeviceTicket(bearer: bearer, expires: expires, host: request.host)
    }

    func openedDevice(_ connection: Connection, _ ticket: DeviceTicket) {
        lastDevice += 1
        let address = DeviceAddress(
            id: deviceNames.device(), shard: index, number: lastDevice, host: ticket.host, expires: ticket.expires)
        // Refused only beyond the inbox's limit. Without a context nothing is reported when the connection ends.
        guard common.calls?.post(.opened(address, ticket.bearer)) == true else {
            connection.context = nil
            counters.closed[CloseReason.limit.code, default: 0] += 1
            return connection.close(.limit)
        }
        let device = Device(address: address, connection: connection, bearer: ticket.bearer, at: clock.now)
        devices[lastDevice] = device
        connection.context = device
        counters.connections += 1
        scheduleTick()
    }

    func closedDevice(_ connection: Connection) {
        guard let device = device(of: connection) else { return }
        connection.context = nil
        devices[device.address.number] = nil
        counters.connections -= 1
        common.calls?.post(.closed(device.address.id))
        finishDrainIfEmpty()
    }

    private func device(of connection: Connection) -> Device? { connection.context as? Device }

    // MARK: In

    func received(text message: UnsafeRawBufferPointer, fromDevice connection: Connection) {
        guard let device = device(of: connection), device.pendingClose == nil else { return }
        device.lastHeard = clock.now
        counters.controlIn += 1
        guard String(validating: message, as: UTF8.self) != nil else { return close(device, .invalidText) }
        let incoming = IncomingCallRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            refuse(error, re: incoming.id, to: device)
            if error.code == .malformed { countMalformed(of: device) }
        case .success(.ping(let t)):
            if let id = incoming.id { send(CallReply(pong: t).bytes(re: id), to: device) }
        case .success(let request):
            guard device.requests.take(at: clock.now) else {
                return refuse(
                    RequestError(.limitExceeded, "too many requests; wait a second", retryable: true), re: incoming.id, to: device)
            }
            if case .renew(let token) = request { return renew(device, with: token, re: incoming.id) }
            guard common.calls?.post(.request(request, id: incoming.id, from: device.address.id)) == true else {
                return refuse(
                    RequestError(.limitExceeded, "the gateway has more requests than it can answer now", retryable: true), re: incoming.id,
                    to: device)
            }
        }
    }

    /// A fresher token in place of the one that the channel was opened with.
    private func renew(_ device: Device, with token: String, re id: UInt64?) {
        guard let calls = common.calls else { return }
        do throws(TokenError) {
            let (bearer, expires) = try calls.verify(token, keys: keys)
            guard bearer.isSame(as: device.bearer) else {
                return refuse(RequestError(.notAllowed, "this is a token of somebody else"), re: id, to: device)
            }
            device.expires = max(device.expires, expires)
            let expiresIn = max(0, device.expires - WallClock.seconds)
            if let id { send(CallReply(expiresIn: expiresIn).bytes(re: id), to: device) }
        } catch {
            refuse(RequestError(.notAllowed, error.message), re: id, to: device)
        }
    }

    /// Nothing here is binary.
    func receivedBinary(fromDevice connection: Connection) {
        guard let device = device(of: connection), device.pendingClose == nil else { return }
        device.lastHeard = clock.now
        counters.malformed[FrameError.kind.rawValue, default: 0] += 1
        countMalformed(of: device)
    }

    func heardDevice(_ connection: Connection) {
        device(of: connection)?.lastHeard = clock.now
    }

    private func countMalformed(of device: Device) {
        if device.malformed.exceedsLimit(afterMessageAt: clock.now) { close(device, .protocolError) }
    }

    private func refuse(_ error: RequestError, re id: UInt64?, to device: Device) {
        let isAnswered = id != nil || error.code == .malformed
        refuse(error.code, isAnswered ? CallError(error).bytes(re: id) : nil, to: device)
    }

    private func refuse(_ code: RequestError.Code, _ message: [UInt8]?, to device: Device) {
        counters.requestsRefused[code.description, default: 0] += 1
        if let message { send(message, to: device) }
    }

    // MARK: Out

    func perform(_ order: DeviceOrder) {
        switch order {
        case .tell(let message, let numbers):
            for number in numbers {
                if let device = devices[number] { send(message, to: device) }
            }
        case .refuse(let code, let message, let number):
            if let device = devices[number] { refuse(code, message, to: device) }
        case .close(let number, let reason):
            if let device = devices[number] { close(device, reason) }
        }
    }

    /// Never dropped; who lets over 256 KiB pile up is closed instead.
    private func send(_ message: [UInt8], to device: Device) {
        guard device.connection.phase == .open, device.pendingClose == nil else { return }
        counters.controlOut += 1
        if !device.outbox.hasControl, !device.connection.isCongested {
            device.connection.write(text: message)
        } else if device.outbox.append(control: message) {
            device.connection.askForWritable()
        } else {
            close(device, .slowConsumer)
        }
    }

    func pumpDevice(_ connection: Connection) {
        guard let device = device(of: connection) else { return }
        while !connection.isCongested, case .control(let message)? = device.outbox.next(allowsFrame: false) {
            connection.write(text: message)
        }
        if device.outbox.hasControl { connection.askForWritable() } else { finishPendingClose(device) }
    }

    /// Closes after what is on its way, or a second or two later.
    func close(_ device: Device, _ reason: CloseReason) {
        guard device.connection.phase == .open, device.pendingClose == nil else { return }
        counters.closed[reason.code, default: 0] += 1
        device.pendingClose = (reason, clock.now + .seconds(1))
        if reason == .slowConsumer { device.outbox.removeAll { _ in } }
        finishPendingClose(device)
    }

    private func finishPendingClose(_ device: Device) {
        guard let pendingClose = device.pendingClose, !device.outbox.hasControl || clock.now >= pendingClose.deadline else { return }
        device.connection.close(pendingClose.reason)
    }

    // MARK: The clock

    /// Once a second.
    func lookAfterDevices() {
        guard !devices.isEmpty else { return }
        let wallClock = WallClock.seconds
        for device in devices.values {
            finishPendingClose(device)
            if clock.now - device.lastHeard >= .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) {
                close(device, .pingTimeout)
            } else if wallClock - AccessToken.leewaySeconds > device.expires {
                close(device, .tokenRevoked)
            } else if clock.now - device.lastHeard >= .milliseconds(ProtocolLimits.pingIntervalMilliseconds) {
                device.ping()
            }
        }
    }
}

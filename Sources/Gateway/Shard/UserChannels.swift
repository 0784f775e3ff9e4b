internal import Backend
internal import Engine
internal import Identity
internal import Sockets
internal import Wire

/// Channels of users and assistants on this shard (PROTOCOL, "Calls"): text in and out.
///
/// Nothing is decided here. Requests go to the call service and to the dispatch service; their events come back through the mailbox.
final class UserChannels {
    private let context: ShardContext
    /// By the number that this shard gave each.
    private var channels: [Int: UserChannel] = [:]
    private var lastNumber = 0
    private var identifiers = IdentifierGenerator(seed: .random(in: 0 ... .max))

    init(_ context: ShardContext) {
        self.context = context
    }

    private var calls: CallInbox? { context.gateway.calls }
    private var dispatch: DispatchInbox? { context.gateway.dispatch }

    /// Whether this gateway serves calls or dispatches assistants.
    var isAvailable: Bool { calls != nil || dispatch != nil }
    var isEmpty: Bool { channels.isEmpty }
    var count: Int { channels.count }

    // MARK: Opening and closing

    /// Verifies a channel's token.
    func ticket(for token: String, host: String?) throws(TokenError) -> ChannelTicket {
        let (bearer, expires) = try verify(token)
        return ChannelTicket(bearer: bearer, expires: expires, host: host)
    }

    private func verify(_ token: String) throws(TokenError) -> (owner: ChannelOwner, expires: Int64) {
        try ChannelTokens(users: calls?.tokens).verify(token, keys: context.keys)
    }

    func opened(_ connection: Connection, _ ticket: ChannelTicket) {
        lastNumber += 1
        let address = DeviceAddress(
            id: identifiers.device(), shard: context.index, number: lastNumber, host: ticket.host, expires: ticket.expires)
        guard announce(address, ticket.bearer) else {
            // An inbox is full. Without a context the connection's end is not reported.
            connection.context = nil
            context.countClosed(.limit)
            return connection.close(.limit)
        }
        let channel = UserChannel(address: address, connection: connection, bearer: ticket.bearer, at: context.now)
        channels[lastNumber] = channel
        connection.context = channel
        context.counters.connections += 1
        context.wake(within: Housekeeping.busyInterval)
    }

    /// Posts a new channel to the services that it concerns.
    ///
    /// - Returns: false if one refuses it.
    private func announce(_ address: DeviceAddress, _ owner: ChannelOwner) -> Bool {
        guard calls?.post(.opened(address, owner)) ?? true else { return false }
        guard case .assistant(let assistant) = owner, let dispatch else { return true }
        if dispatch.post(.opened(address, assistant: assistant)) { return true }
        calls?.post(.closed(address.id))
        return false
    }

    func closed(_ connection: Connection) {
        guard let channel = channel(of: connection) else { return }
        connection.context = nil
        channels[channel.address.number] = nil
        context.counters.connections -= 1
        calls?.post(.closed(channel.address.id))
        if case .assistant = channel.bearer { dispatch?.post(.closed(channel.address.id)) }
    }

    private func channel(of connection: Connection) -> UserChannel? { connection.context as? UserChannel }

    // MARK: In

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        guard let channel = channel(of: connection), channel.pendingClose == nil else { return }
        channel.lastReceivedAt = context.now
        context.counters.controlIn += 1
        guard String(validating: message, as: UTF8.self) != nil else { return close(channel, .invalidText) }
        let incoming = IncomingCallRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            refuse(error, id: incoming.id, to: channel)
            if error.code == .malformed { countMalformed(of: channel) }
        case .success(.ping(let time)):
            if let id = incoming.id { send(CallReply(pong: time).bytes(re: id), to: channel) }
        case .success(let request):
            perform(request, id: incoming.id, from: channel)
        }
    }

    private func perform(_ request: CallRequest, id: UInt64?, from channel: UserChannel) {
        guard channel.requests.take(at: context.now) else {
            let error = RequestError(.limitExceeded, "too many requests; wait a second", retryable: true)
            return refuse(error, id: id, to: channel)
        }
        switch request {
        case .renew(let token): renew(channel, with: token, id: id)
        case .worker(let request): post(request, id: id, from: channel)
        default:
            guard let calls else {
                return refuse(RequestError(.unsupported, "this gateway serves no calls; it has no accounts"), id: id, to: channel)
            }
            if !calls.post(.request(request, id: id, from: channel.address.id)) { refuse(Self.tooBusy, id: id, to: channel) }
        }
    }

    private func post(_ request: WorkerRequest, id: UInt64?, from channel: UserChannel) {
        guard case .assistant = channel.bearer, let dispatch else {
            return refuse(RequestError(.notAllowed, "only the channel of an assistant takes requests of workers"), id: id, to: channel)
        }
        guard channel.isGreeted else {
            return refuse(RequestError(.limitExceeded, "wait for `hello`", retryable: true), id: id, to: channel)
        }
        if !dispatch.post(.request(request, id: id, from: channel.address.id)) { refuse(Self.tooBusy, id: id, to: channel) }
    }

    private static let tooBusy = RequestError(
        .limitExceeded, "the gateway has more requests than it can answer now", retryable: true)

    /// Replaces the token with which the channel was opened by a fresher one.
    private func renew(_ channel: UserChannel, with token: String, id: UInt64?) {
        do throws(TokenError) {
            let (bearer, expires) = try verify(token)
            guard bearer.isSame(as: channel.bearer) else {
                return refuse(RequestError(.notAllowed, "the token belongs to another user"), id: id, to: channel)
            }
            channel.expires = max(channel.expires, expires)
            let expiresIn = max(0, channel.expires - WallClock.seconds)
            if let id { send(CallReply(expiresIn: expiresIn).bytes(re: id), to: channel) }
        } catch {
            refuse(RequestError(.notAllowed, error.message), id: id, to: channel)
        }
    }

    /// Binary messages have no meaning on a channel.
    func received(binaryFrom connection: Connection) {
        guard let channel = channel(of: connection), channel.pendingClose == nil else { return }
        channel.lastReceivedAt = context.now
        context.counters.malformed[FrameError.kind.rawValue, default: 0] += 1
        countMalformed(of: channel)
    }

    func noteActivity(of connection: Connection) {
        channel(of: connection)?.lastReceivedAt = context.now
    }

    private func countMalformed(of channel: UserChannel) {
        if channel.malformed.exceedsLimit(afterMessageAt: context.now) { close(channel, .protocolError) }
    }

    private func refuse(_ error: RequestError, id: UInt64?, to channel: UserChannel) {
        let isAnswered = id != nil || error.code == .malformed
        refuse(error.code, isAnswered ? CallError(error).bytes(re: id) : nil, to: channel)
    }

    private func refuse(_ code: RequestError.Code, _ message: [UInt8]?, to channel: UserChannel) {
        context.counters.requestsRefused[code.description, default: 0] += 1
        if let message { send(message, to: channel) }
    }

    // MARK: Out

    /// Performs a command of the call service.
    func perform(_ command: DeviceCommand) {
        switch command {
        case .send(let message, let numbers):
            for number in numbers {
                if let channel = channels[number] {
                    channel.isGreeted = true
                    send(message, to: channel)
                }
            }
        case .refuse(let code, let message, let number):
            if let channel = channels[number] { refuse(code, message, to: channel) }
        case .close(let number, let reason):
            if let channel = channels[number] { close(channel, reason) }
        }
    }

    /// Sends a message, or queues it. Messages are never dropped; a client that lets more than `Limits.controlBacklogBytesMax` pile up is
    /// closed.
    private func send(_ message: [UInt8], to channel: UserChannel) {
        guard channel.connection.phase == .open, channel.pendingClose == nil else { return }
        context.counters.controlOut += 1
        if !channel.outbox.hasControl, !channel.connection.isCongested {
            channel.connection.write(text: message)
        } else if channel.outbox.append(control: message) {
            channel.connection.askForWritable()
        } else {
            close(channel, .slowConsumer)
        }
    }

    func flush(_ connection: Connection) {
        guard let channel = channel(of: connection) else { return }
        while !connection.isCongested, case .control(let message)? = channel.outbox.next(allowsFrame: false) {
            connection.write(text: message)
        }
        if channel.outbox.hasControl { connection.askForWritable() } else { completePendingClose(of: channel) }
    }

    /// Closes a channel once its messages are flushed, or after a second.
    private func close(_ channel: UserChannel, _ reason: CloseReason) {
        guard channel.connection.phase == .open, channel.pendingClose == nil else { return }
        context.countClosed(reason)
        channel.pendingClose = PendingClose(reason: reason, deadline: context.now + .seconds(1))
        if reason == .slowConsumer { channel.outbox.removeAll { _ in } }
        completePendingClose(of: channel)
    }

    func closeAll(_ reason: CloseReason) {
        for channel in channels.values { close(channel, reason) }
    }

    private func completePendingClose(of channel: UserChannel) {
        guard let pending = channel.pendingClose, !channel.outbox.hasControl || context.now >= pending.deadline else { return }
        channel.connection.close(pending.reason)
    }

    // MARK: The clock

    /// Closes channels that are silent or whose token has expired, and pings those that only listen. Once a second.
    func checkLiveness() {
        guard !channels.isEmpty else { return }
        let wallClock = WallClock.seconds
        for channel in channels.values {
            completePendingClose(of: channel)
            let silence = context.now - channel.lastReceivedAt
            if silence >= .milliseconds(ProtocolLimits.pingTimeoutMilliseconds) {
                close(channel, .pingTimeout)
            } else if wallClock - AccessToken.leewaySeconds > channel.expires {
                close(channel, .tokenRevoked)
            } else if silence >= .milliseconds(ProtocolLimits.pingIntervalMilliseconds) {
                channel.ping()
            }
        }
    }
}

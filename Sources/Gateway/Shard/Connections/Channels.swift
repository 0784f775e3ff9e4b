internal import Backend
internal import Engine
internal import Identity
internal import Sockets
internal import Wire

/// The channels of users and assistants on this shard (docs/protocol/calls.md).
///
/// Checks rate and form of their requests, renews their tokens, and passes other requests to the call service or the dispatch service, whose
/// events come back through the mailbox.
final class Channels {
    private let context: ShardContext
    /// By the number that this shard gave each.
    private var channels: [Int: Channel] = [:]
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

    /// Makes the channel of an upgrade request, which is not in use before `opened`.
    func channel(with token: String, host: String?, nodes: [String]?, on socket: Connection) throws(TokenError) -> Channel {
        let (owner, expires) = try verify(token)
        lastNumber += 1
        let address = ChannelAddress(
            id: identifiers.device(), shard: context.index, number: lastNumber, host: host, nodes: nodes, expires: expires)
        return Channel(context, socket: socket, address: address, owner: owner)
    }

    /// Whether a token opens a channel.
    func admits(_ token: String) -> Bool { (try? verify(token)) != nil }

    private func verify(_ token: String) throws(TokenError) -> (owner: ChannelOwner, expires: Int64) {
        try ChannelTokens(users: calls?.tokens).verify(token, keys: context.keys)
    }

    func opened(_ channel: Channel) {
        // An inbox may be full.
        guard announce(channel.address, channel.owner) else { return channel.close(.limit) }
        channels[channel.address.number] = channel
        context.counters.connections += 1
        context.wake(within: Housekeeping.busyInterval)
    }

    /// Posts a new channel to the services that it concerns.
    ///
    /// - Returns: false if one refuses it.
    private func announce(_ address: ChannelAddress, _ owner: ChannelOwner) -> Bool {
        guard calls?.post(.opened(address, owner)) ?? true else { return false }
        guard case .assistant(let assistant) = owner, let dispatch else { return true }
        if dispatch.post(.opened(address, assistant: assistant)) { return true }
        calls?.post(.closed(address.id))
        return false
    }

    func closed(_ socket: Connection) {
        guard let channel = channel(of: socket) else { return }
        socket.context = nil
        guard channels.removeValue(forKey: channel.address.number) != nil else { return }
        context.counters.connections -= 1
        calls?.post(.closed(channel.address.id))
        if case .assistant = channel.owner { dispatch?.post(.closed(channel.address.id)) }
    }

    func closeAll(_ reason: CloseReason) {
        for channel in channels.values { channel.close(reason) }
    }

    private func channel(of socket: Connection) -> Channel? { socket.context as? Channel }

    // MARK: Requests

    func received(text message: UnsafeRawBufferPointer, from socket: Connection) {
        guard let channel = channel(of: socket), channel.countReceived() else { return }
        let incoming = IncomingCallRequest(parsing: Array(message))
        switch incoming.content {
        case .failure(let error):
            channel.refuse(error, id: incoming.id)
            if error.code == .malformed { channel.countMalformed() }
        case .success(.ping(let time)):
            if let id = incoming.id { channel.write(CallReply(pong: time).bytes(re: id)) }
        case .success(let request):
            do throws(RequestError) {
                try pass(request, id: incoming.id, from: channel)
            } catch {
                channel.refuse(error, id: incoming.id)
            }
        }
    }

    private func pass(_ request: CallRequest, id: UInt64?, from channel: Channel) throws(RequestError) {
        guard channel.requests.take(at: context.now) else {
            throw RequestError(.limitExceeded, "too many requests; wait a second", retryable: true)
        }
        let isPosted: Bool
        switch request {
        case .renew(let token): return try renew(channel, with: token, id: id)
        case .worker(let request):
            guard case .assistant = channel.owner, let dispatch else {
                throw RequestError(.notAllowed, "only the channel of an assistant takes requests of workers")
            }
            guard channel.isGreeted else { throw RequestError(.limitExceeded, "wait for `hello`", retryable: true) }
            isPosted = dispatch.post(.request(request, id: id, from: channel.address.id))
        default:
            guard let calls else { throw RequestError(.unsupported, "this gateway serves no calls; it has no accounts") }
            isPosted = calls.post(.request(request, id: id, from: channel.address.id))
        }
        guard isPosted else {
            throw RequestError(.limitExceeded, "the gateway has more requests than it can answer now", retryable: true)
        }
    }

    /// Replaces the token with which the channel was opened by a fresher one.
    private func renew(_ channel: Channel, with token: String, id: UInt64?) throws(RequestError) {
        let (owner, expires): (ChannelOwner, Int64)
        do throws(TokenError) {
            (owner, expires) = try verify(token)
        } catch {
            throw RequestError(.notAllowed, error.message)
        }
        guard owner.isSame(as: channel.owner) else { throw RequestError(.notAllowed, "the token belongs to another user") }
        channel.expires = max(channel.expires, expires)
        if let id { channel.write(CallReply(expiresIn: max(0, channel.expires - WallClock.seconds)).bytes(re: id)) }
    }

    /// Binary messages have no meaning on a channel.
    func received(binaryFrom socket: Connection) {
        guard let channel = channel(of: socket), channel.pendingClose == nil else { return }
        channel.lastReceivedAt = context.now
        context.counters.malformed[FrameError.kind.rawValue, default: 0] += 1
        channel.countMalformed()
    }

    func ponged(_ socket: Connection) {
        channel(of: socket)?.lastReceivedAt = context.now
    }

    func writable(_ socket: Connection) {
        channel(of: socket)?.flush()
    }

    // MARK: Commands of services

    func execute(_ command: ChannelCommand) {
        switch command {
        case .send(let message, let numbers):
            for number in numbers {
                guard let channel = channels[number] else { continue }
                channel.isGreeted = true
                channel.write(message)
            }
        case .refuse(let code, let message, let number):
            guard let channel = channels[number] else { return }
            context.counters.requestsRefused[code.description, default: 0] += 1
            if let message { channel.write(message) }
        case .close(let number, let reason): channels[number]?.close(reason)
        }
    }

    /// Once a second.
    func check(_ pauses: PauseDetector) {
        guard !channels.isEmpty else { return }
        let wallClock = WallClock.seconds
        for channel in channels.values { channel.check(pauses, wallClock: wallClock) }
    }
}

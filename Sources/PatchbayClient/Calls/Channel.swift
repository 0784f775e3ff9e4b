public import Wire

/// The calls of a user on one of its devices.
///
///     let channel = try await Channel.connect(url: "wss://127.0.0.1:7880") { try await account.accessToken() }
///     for await event in channel.events {
///         switch event {
///         case .incoming(let call):                      // ring; when the user accepts:
///             let room = try await call.answer()         // a `RoomConnection` with the caller in it
///             let voice = try await room.publish(name: "mic", source: .microphone)
///         case .ended(_, let how): print(how)            // .completed, .cancelled, .answeredElsewhere, .unanswered, …
///         default: break
///         }
///     }
///
///     let (call, room) = try await channel.call([.user(bob)])
///     try await call.hangUp()
///
/// Made for call screens such as CallKit's: a `Call` has their states (connecting, active, held, ended) and their actions. A call is on this
/// device if this device called or answered; a call that another device of the user answers has ended here.
///
/// Thread-safe; its socket is driven by the event loop of the rooms (`RoomConnection`). When the connection is lost, pending requests fail with
/// `RequestFailure.notConnected`, calls continue, and the channel reconnects as `RoomOptions.reconnect` says; `calls` is then current again.
/// Calls that began and ended meanwhile are not reported. The channel ends with its token (close code 4100), unless it has a source of tokens
/// or `renew(userToken:)` is called before. `close()`, or the release of the last reference, closes the channel and ends no call.
public final class Channel: Sendable {
    /// The events, the last of which is `disconnected`. For one reader: several readers would each get a part. A reader that falls behind by
    /// more than `StreamLimits.eventsMax` loses the oldest events; `calls` is current nevertheless.
    public let events: AsyncStream<ChannelEvent>

    let handle: ChannelHandle

    private init(handle: ChannelHandle, events: AsyncStream<ChannelEvent>) {
        self.handle = handle
        self.events = events
    }

    deinit {
        handle.submit { $0.leave(reason: nil, completion: nil) }
    }

    /// Connects a device of the user.
    ///
    /// - Parameters:
    ///   - url: `wss://host[:port]`; the port defaults to 443.
    ///   - userToken: a user's access token as returned by `POST /v1/auth/token`, not a room token.
    ///   - options: of the channel, and of the rooms of its calls.
    /// - Throws: `ConnectError`. The first attempt is not retried.
    public static func connect(
        url: String, userToken: String, options: RoomOptions = RoomOptions()
    ) async throws(ConnectError) -> Channel {
        try await connect(url: url, userToken: userToken, nil, options)
    }

    /// Connects a device of the user with a source of tokens, so that the channel outlives a single token: before a token expires, another one
    /// is presented on the same connection. After a longer loss of the network the channel reconnects with a valid one.
    ///
    /// - Parameter userTokens: returns a currently valid token, for example by `POST /v1/auth/refresh`. Called once at first and then whenever
    ///   another token is needed. If it throws, it is called again 10 s later.
    /// - Throws: `ConnectError`, also if the source throws at first.
    public static func connect(
        url: String, options: RoomOptions = RoomOptions(), userTokens: @escaping UserTokenSource
    ) async throws(ConnectError) -> Channel {
        let first: String
        do { first = try await userTokens() } catch {
            throw ConnectError(.refused, "the token source returned no user token: \(error)", status: 401, code: "missing_token")
        }
        return try await connect(url: url, userToken: first, userTokens, options)
    }

    private static func connect(
        url: String, userToken: String, _ tokenSource: UserTokenSource?, _ options: RoomOptions
    ) async throws(ConnectError) -> Channel {
        let address = try GatewayAddress(url, path: GatewayAddress.channelPath)
        try ConnectError.check(token: userToken)
        let tls = try TLSContext.cached(for: options.trust)
        let handle = ChannelHandle(options: options)
        let (events, sink) = AsyncStream.makeStream(of: ChannelEvent.self, bufferingPolicy: .bufferingNewest(StreamLimits.eventsMax))
        try await handle.open {
            ChannelSession(
                channel: $0, address: address, token: userToken, tokenSource: tokenSource, tls: tls, events: sink, opening: $1)
        }
        return Channel(handle: handle, events: events)
    }

    /// Closes the connection and returns once it is closed, within 2 s. Calls continue. Further calls have no effect.
    public func close() async {
        await handle.leave(reason: nil)
    }

    // MARK: Calling

    /// Rings others and joins the call's room at once. Callees join when they answer.
    ///
    /// - Parameters:
    ///   - callees: 1 to 31, without the user itself.
    ///   - callerName: shown to the callees, at most 256 bytes.
    ///   - metadata: for the callees' apps, at most 1,024 bytes.
    ///   - idempotencyKey: requests with the same key start one call: for a retry after `notConnected` or `timedOut`.
    /// - Throws: `CallFailure`.
    public func call(
        _ callees: [CallParty], callerName: String = "", metadata: String = "", idempotencyKey: String? = nil
    ) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        try await handle.join(
            .start(CallStart(to: callees, callerName: callerName, metadata: metadata, idempotencyKey: idempotencyKey)))
    }

    /// Takes over a call that the user has joined with another device; one of `CallList.callsElsewhere`.
    public func join(_ call: CallID) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        try await handle.join(.join(call))
    }

    /// Continues with another token of the same user, on a new connection. Calls and their rooms are not affected.
    public func renew(userToken: String) throws(ConnectError) {
        try ConnectError.check(token: userToken)
        handle.submit { $0.renew(token: userToken) }
    }

    // MARK: Workers

    /// Sends a request of an assistant's worker.
    @discardableResult
    package func request(_ request: WorkerRequest) async throws(RequestFailure) -> CallReply {
        try await handle.request(.worker(request))
    }

    /// Sends a request of an assistant's worker without asking for a reply.
    package func notify(_ request: WorkerRequest) {
        handle.submit { $0.notify(.worker(request)) }
    }

    // MARK: State

    /// All calls of the user as currently known. A copy, whose calls can send requests.
    public var calls: CallList {
        var calls = handle.current.calls
        calls.channel = handle
        return calls
    }

    public var user: Identity { hello.user }
    /// The id of this connection in calls; changes with each reconnect.
    public var device: DeviceID { hello.device }
    public var statistics: ChannelStatistics { handle.current.statistics }
    /// Why the channel has ended; nil while it has not.
    public var disconnection: Disconnection? { handle.current.disconnection }

    private var hello: CallsHello {
        guard let hello = handle.current.hello else { preconditionFailure("a channel exists only after its hello") }
        return hello
    }

    /// For tests: closes the socket without a close frame. The channel reconnects as its options say.
    package func dropConnection() {
        handle.submit { $0.connection?.abort() }
    }
}

extension ChannelHandle {
    @discardableResult
    func request(_ request: CallRequest) async throws(RequestFailure) -> CallReply {
        try await perform { [timeout = options.requestTimeout] in $0.send(request, timeout: timeout, .caller($1)) }
    }

    /// Sends a request that leads into a call's room, and joins the room.
    func join(_ request: CallRequest) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        let reply: CallReply
        do throws(RequestFailure) { reply = try await self.request(request) } catch { throw .request(error) }
        guard let info = reply.call, let user = current.calls.user else { throw .request(.badAnswer) }
        if info.status.isOver { throw .over(ending(of: Call(info: info, user: user, isHere: true))) }
        guard let url = reply.livekitUrl, let token = reply.livekitToken else { throw .request(.badAnswer) }
        do throws(ConnectError) {
            let room = try await RoomConnection.connect(url: url, token: token, options: options)
            return (latest(info, user), room)
        } catch {
            if error.code == "call_ended" {
                // Any reply arrives after the event that says how the call ended.
                _ = try? await self.request(.join(info.id))
                throw .over(ending(of: latest(info, user)))
            }
            // The other members must not wait for a device that cannot join.
            submit { $0.notify(.hangUp(info.id)) }
            throw .room(error)
        }
    }

    private func latest(_ info: CallInfo, _ user: Identity) -> Call {
        var call = current.calls.latest(info.id) ?? Call(info: info, user: user, isHere: true)
        call.channel = self
        return call
    }

    private func ending(of call: Call) -> CallEnding {
        if case .ended(let ending) = call.state { ending } else { .failed }
    }
}

@available(*, deprecated, renamed: "Channel")
public typealias CallChannel = Channel
@available(*, deprecated, renamed: "ChannelEvent")
public typealias CallChannelEvent = ChannelEvent

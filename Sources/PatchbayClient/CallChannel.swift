internal import Sockets
public import Wire

/// A user's calls as one of its devices has them: who rings, who has answered, and the way into a call's room.
///
///     let channel = try await CallChannel.connect(url: "wss://127.0.0.1:7880") { try await account.accessToken() }
///     for await event in channel.events {
///         switch event {
///         case .incoming(let call):                      // ring; when the user accepts:
///             let room = try await call.answer()         // a `RoomConnection`, with the caller in it
///             let voice = try await room.publish(name: "mic", source: .microphone)
///         case .ended(_, let how): print(how)            // .completed, .cancelled, .answeredElsewhere, .unanswered, …
///         default: break
///         }
///     }
///
///     let (call, room) = try await channel.call([.user(bob)])
///     try await call.hangUp()
///
/// Made for call screens such as CallKit's: a `Call` has their states (connecting, active, held, ended) and what their buttons ask for. A call
/// is this device's if it called or answered; one that another device of the user has taken has ended here.
///
/// Safe to use from any task; its socket lives on the thread of the rooms' (`RoomConnection`). When it is lost, what waits for an answer fails
/// with `RequestFailure.notConnected`, calls go on, and `RoomOptions.reconnect` says what happens; `calls` is then what the gateway says. What
/// began and ended meanwhile nobody hears of here. The channel ends with its token, code 4100, unless it is given
/// a source of fresher ones when it is made, or `renew(userToken:)` is called before that. It is closed by `close()`, or when nobody refers to this object any more: no call ends by that.
public final class CallChannel: Sendable {
    /// What happens, and at last `disconnected`. For one reader: a second one would take events away from the first. Who reads too late loses
    /// the oldest, more than `StreamLimits.eventsMax`; `calls` is true all the same.
    public let events: AsyncStream<CallChannelEvent>

    let door: ChannelDoor

    private init(door: ChannelDoor, events: AsyncStream<CallChannelEvent>) {
        self.door = door
        self.events = events
    }

    deinit {
        door.post(.close(done: nil))
    }

    /// Connects a device of the user.
    ///
    /// - Parameters:
    ///   - url: `wss://host[:port]`; the port defaults to 7880.
    ///   - userToken: a user's access token, as `POST /v1/auth/token` gives; a room's is another kind.
    ///   - options: of the channel, and of the rooms of its calls.
    /// - Throws: `ConnectError`. The first attempt is not repeated: who calls knows better whether that makes sense.
    public static func connect(
        url: String, userToken: String, options: RoomOptions = RoomOptions()
    ) async throws(ConnectError) -> CallChannel {
        try await connect(url: url, userToken: userToken, nil, options)
    }

    /// Connects a device of the user, and stays connected for longer than a token lasts: before its time is over, the channel shows the
    /// gateway another one on the same connection, and misses nothing. After a time without a network, too, it comes back with a good one.
    ///
    /// - Parameter userTokens: gives a token that is good now; asked once at first, and then whenever another is needed. It may refresh one
    ///   (`POST /v1/auth/refresh`). If it throws, it is asked again 10 s later.
    /// - Throws: `ConnectError`, also where there is no first token.
    public static func connect(
        url: String, options: RoomOptions = RoomOptions(), userTokens: @escaping UserTokenSource
    ) async throws(ConnectError) -> CallChannel {
        let first: String
        do { first = try await userTokens() } catch {
            throw ConnectError(.refused, "there is no user token to connect with: \(error)", status: 401, code: "missing_token")
        }
        return try await connect(url: url, userToken: first, userTokens, options)
    }

    private static func connect(
        url: String, userToken: String, _ userTokens: UserTokenSource?, _ options: RoomOptions
    ) async throws(ConnectError) -> CallChannel {
        let address = try GatewayAddress(url, path: GatewayAddress.channelPath)
        try ConnectError.check(token: userToken)
        try await HostName.check(address.host)
        let door = ChannelDoor(loop: try await ClientLoop.shared(for: options.trust), options: options)
        let (events, sink) = AsyncStream.makeStream(of: CallChannelEvent.self, bufferingPolicy: .bufferingNewest(StreamLimits.eventsMax))
        let plan = ChannelPlan(door: door, address: address, token: userToken, tokens: userTokens, events: sink)
        _ = try await withCheckedContinuation { door.loop.post(.openChannel(plan, $0)) }.get()
        return CallChannel(door: door, events: events)
    }

    /// Closes the connection, and returns when that is done: within 2 s. Calls go on. A second call does no harm.
    public func close() async {
        await withCheckedContinuation { door.post(.close(done: $0)) }
    }

    // MARK: Calling

    /// Rings others, and joins the call's room at once. They are there when they have answered.
    ///
    /// - Parameters:
    ///   - callees: 1 to 31, not oneself.
    ///   - callerName: what they see, at most 256 bytes.
    ///   - metadata: for their apps, at most 1,024 bytes.
    ///   - idempotencyKey: the same call, however often this is asked: for a second attempt after `notConnected` or `timedOut`.
    /// - Throws: `CallFailure`.
    public func call(
        _ callees: [CallParty], callerName: String = "", metadata: String = "", idempotencyKey: String? = nil
    ) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        try await door.enter(
            .start(CallStart(to: callees, callerName: callerName, metadata: metadata, idempotencyKey: idempotencyKey)))
    }

    /// Takes over a call that the user has joined with another device; one of `CallBook.callsElsewhere`.
    public func join(_ call: CallID) async throws(CallFailure) -> (call: Call, room: RoomConnection) {
        try await door.enter(.join(call))
    }

    /// Goes on with a fresher token of the same user, on a new connection: calls and their rooms do not notice.
    public func renew(userToken: String) throws(ConnectError) {
        try ConnectError.check(token: userToken)
        door.post(.renew(token: userToken))
    }

    // MARK: What is known

    /// All calls of the user as they are known at this moment. A copy, whose calls may be asked as those in events may.
    public var calls: CallBook {
        var book = door.mirror.current.book
        book.door = door
        return book
    }

    public var user: Identity { hello.user }
    /// This connection, as calls name it; another one after each reconnect.
    public var device: DeviceID { hello.device }
    public var statistics: ChannelStatistics { door.mirror.current.statistics }
    /// Why it is over; nil while it is not.
    public var disconnection: Disconnection? { door.mirror.current.disconnection }

    private var hello: CallsHello {
        guard let hello = door.mirror.current.hello else { preconditionFailure("a channel is made after its hello") }
        return hello
    }

    /// For drills: ends the socket without a word, as a broken cable would. The channel reconnects as its options say.
    package func cutLine() {
        door.post(.cut)
    }
}

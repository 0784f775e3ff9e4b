internal import Sockets
public import Wire

/// A room that we are in: joined over one WebSocket, left with `leave()` or when nobody refers to this object any more.
///
///     let room = try await RoomConnection.connect(url: "wss://127.0.0.1:7880", token: token)
///     let voice = try await room.publish(name: "mic", source: .microphone)
///     try await voice.speak(sound)                       // PCM, encoded and paced
///     for await event in room.events {
///         if case .gateway(.trackPublished(let track), _) = event {
///             for await chunk in room.pcm(of: track.sid) { loudspeaker.play(chunk.samples) }
///         }
///     }
///     await room.leave()
///
/// Safe to use from any task. The sockets of all rooms (and channels) that trust the same authorities are driven by one thread of this library,
/// which is started by the first room and ends after the last; nothing a caller does holds that thread up. What goes from here to
/// there is posted; what comes back is the answer of an `async` function, or an element of a stream. Every stream is bounded
/// (`StreamLimits`): a reader that does not keep up loses the oldest elements, and `statistics` counts them.
///
/// When the connection is lost, what waits for an answer fails with `RequestFailure.notConnected`, frames are dropped and counted,
/// and `RoomOptions.reconnect` says what happens. Within 20 s we get our old place back: tracks, streams and events go on as if nothing
/// had happened, but for the sound of that time. Later our tracks, subscriptions and agent state are restored in a new place; streams of
/// tracks that are still there go on.
public final class RoomConnection: Sendable {
    /// What happens, from `hello` on, and at last `disconnected`. For one reader: a second one would take events away from the first.
    public let events: AsyncStream<RoomEvent>

    let door: RoomDoor
    let options: RoomOptions
    let procedures: ProcedureDesk

    private init(door: RoomDoor, options: RoomOptions, events: AsyncStream<RoomEvent>, procedures: ProcedureDesk) {
        self.door = door
        self.options = options
        self.events = events
        self.procedures = procedures
    }

    deinit {
        door.post(.leave(reason: nil, done: nil))
    }

    /// Joins the room that the token names.
    ///
    /// - Parameters:
    ///   - url: `wss://host[:port]`; the port defaults to 7880.
    ///   - token: an access token (JWT) with the grant to join a room.
    /// - Throws: `ConnectError`. The first attempt is not repeated: who calls knows better whether that makes sense.
    public static func connect(
        url: String, token: String, options: RoomOptions = RoomOptions()
    ) async throws(ConnectError) -> RoomConnection {
        let address = try GatewayAddress(url)
        try ConnectError.check(token: token)
        try await HostName.check(address.host)
        let door = RoomDoor(loop: try await ClientLoop.shared(for: options.trust))
        let (events, sink) = AsyncStream.makeStream(of: RoomEvent.self, bufferingPolicy: .bufferingNewest(StreamLimits.eventsMax))
        let procedures = ProcedureDesk()
        let plan = RoomPlan(door: door, address: address, token: token, options: options, events: sink, procedures: procedures)
        _ = try await withCheckedContinuation { door.loop.post(.open(plan, $0)) }.get()
        return RoomConnection(door: door, options: options, events: events, procedures: procedures)
    }

    /// Leaves, and returns when the connection is closed: within 2 s. A second call does no harm.
    ///
    /// - Parameter reason: for the gateway's log.
    public func leave(reason: String? = nil) async {
        await withCheckedContinuation { door.post(.leave(reason: reason, done: $0)) }
    }

    // MARK: What is known

    /// The newest `hello`: server, limits, session, and the room as it was then.
    public var hello: Hello {
        guard let hello = door.mirror.current.hello else { preconditionFailure("a room connection is made after its hello") }
        return hello
    }

    /// Room, ourselves and the others as they are known at this moment. A copy: O(participants).
    public var snapshot: RoomSnapshot { door.mirror.current.snapshot ?? RoomSnapshot(hello) }
    public var localParticipant: ParticipantInfo { snapshot.local }
    public var participants: [ParticipantInfo] { snapshot.participants }
    public var statistics: RoomStatistics { door.mirror.current.statistics }
    /// Why it is over; nil while it is not.
    public var disconnection: Disconnection? { door.mirror.current.disconnection }

    /// For drills: ends the socket without a word, as a broken cable would. The room reconnects as its options say.
    package func cutLine() {
        door.post(.cut)
    }
}

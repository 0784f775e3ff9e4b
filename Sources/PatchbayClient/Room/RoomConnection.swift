public import Wire

/// A joined room.
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
/// The room is left by `leave()`, or when the last reference to this object goes away.
///
/// Thread-safe. One event loop thread drives the sockets of all rooms and call channels of the process; nothing a caller does blocks it. All
/// streams are bounded (`StreamLimits`): a reader that falls behind loses the oldest elements, which `statistics` counts.
///
/// When the connection is lost, pending requests fail with `RequestFailure.notConnected`, frames are dropped and counted, and the client
/// reconnects as `RoomOptions.reconnect` says. Within 20 s it resumes its session: tracks and streams continue, and missed events are
/// replayed. After that it joins again: tracks are published again, accepted subscriptions and the agent state are restored, and the streams
/// of tracks that still exist continue.
public final class RoomConnection: Sendable {
    /// The room's events, from `hello` to `disconnected`. For one reader: several readers would each get a part of the events.
    public let events: AsyncStream<RoomEvent>

    let handle: RoomHandle
    let procedures: ProcedureHandlers
    var options: RoomOptions { handle.options }

    private init(handle: RoomHandle, events: AsyncStream<RoomEvent>, procedures: ProcedureHandlers) {
        self.handle = handle
        self.events = events
        self.procedures = procedures
    }

    deinit {
        handle.submit { $0.leave(reason: nil, completion: nil) }
    }

    /// Joins the room that the token names.
    ///
    /// - Parameters:
    ///   - url: `wss://host[:port]`; the port defaults to 443.
    ///   - token: an access token (JWT) with the grant to join a room.
    /// - Throws: `ConnectError`. The first attempt is not retried.
    public static func connect(
        url: String, token: String, options: RoomOptions = RoomOptions()
    ) async throws(ConnectError) -> RoomConnection {
        let address = try GatewayAddress(url)
        try ConnectError.check(token: token)
        let tls = try TLSContext.cached(for: options.trust)
        let handle = RoomHandle(options: options)
        let (events, sink) = AsyncStream.makeStream(of: RoomEvent.self, bufferingPolicy: .bufferingNewest(StreamLimits.eventsMax))
        let procedures = ProcedureHandlers()
        try await handle.open {
            RoomSession(room: $0, address: address, token: token, tls: tls, events: sink, procedures: procedures, opening: $1)
        }
        return RoomConnection(handle: handle, events: events, procedures: procedures)
    }

    /// Leaves the room and returns once the connection is closed, within 2 s. Further calls have no effect.
    ///
    /// - Parameter reason: for the gateway's log.
    public func leave(reason: String? = nil) async {
        await handle.leave(reason: reason)
    }

    // MARK: State

    /// The latest `hello`: server, limits, session, and the room at that time.
    public var hello: Hello {
        guard let hello = handle.current.hello else { preconditionFailure("a room connection exists only after its hello") }
        return hello
    }

    /// The room as currently known. A copy: O(participants).
    public var snapshot: RoomSnapshot { handle.current.snapshot ?? RoomSnapshot(hello) }
    public var localParticipant: ParticipantInfo { snapshot.local }
    /// The other participants.
    public var participants: [ParticipantInfo] { snapshot.participants }
    public var statistics: RoomStatistics { handle.current.statistics }
    /// Why the room has ended; nil while it has not.
    public var disconnection: Disconnection? { handle.current.disconnection }

    /// For tests: closes the socket without a close frame. The room reconnects as its options say.
    package func dropConnection() {
        handle.submit { $0.connection?.abort() }
    }
}

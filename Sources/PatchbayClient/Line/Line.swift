internal import Sockets
internal import Wire

/// One WebSocket of ours on the loop's thread: made, lost, found again, ended. What is said over it is the business of its two kinds,
/// `RoomSession` and `ChannelSession`.
///
/// A class with methods to override, and not a protocol: a connection has it as its context, and a frame finds it by a cast that checks
/// nothing and one call through the class's table.
class Line {
    enum Phase {
        /// A socket is being made, or `hello` has not come yet.
        case connecting(until: Instant)
        case open
        /// The line was lost; there will be another attempt.
        case resting(until: Instant)
        case leaving(until: Instant)
        case ended
    }

    let id: Int
    let address: GatewayAddress
    let options: RoomOptions
    unowned let thread: LoopThread
    final var phase = Phase.ended
    final var connection: Connection?
    /// What the next attempt to connect shows.
    final var token: String
    /// The number of the attempt to come back; 0 while all is well.
    final var attempt = 0
    final var heartbeat: Heartbeat?
    final var leavers: [CheckedContinuation<Void, Never>] = []
    /// Nobody has let us in yet, and who wants to come in waits.
    final var isOpening = true

    init(id: Int, address: GatewayAddress, token: String, options: RoomOptions, thread: LoopThread) {
        self.id = id
        self.address = address
        self.token = token
        self.options = options
        self.thread = thread
    }

    /// Why nothing may be asked now, when so many requests wait; nil if it may.
    final func refusal(whileWaiting count: Int) -> RequestFailure? {
        switch phase {
        case .open: count < StreamLimits.requestsMax ? nil : .tooMany
        case .connecting, .resting: .notConnected
        case .leaving, .ended: .ended
        }
    }

    // MARK: What each kind does in its own way

    /// Where the next attempt goes.
    var endpoint: Endpoint { preconditionFailure("each kind of line has one") }
    /// How long an attempt may take.
    var patience: Duration { options.connectTimeout }
    /// When something other than the line itself wants `tick`.
    var workDeadline: Instant? { nil }

    func received(text: [UInt8]) {}
    func received(binary message: UnsafeRawBufferPointer) {}
    /// The socket takes more.
    func pump() {}
    /// Requests whose time is over fail.
    func expireRequests(at now: Instant) {}
    func ping(at now: Instant) {}
    /// Says that we go; the gateway closes then.
    func sayPendingClose(_ reason: String?) {}
    /// The socket has gone. What waits for an answer fails, for nobody knows whether it was done: the gateway does not answer on another one.
    func dropped() {}
    func comesBack(attempt: Int, after delay: Duration, because reason: Disconnection) {}
    /// Whether coming back makes sense where what is sent now was refused: something fresher is on its way.
    func isWorthAnotherTry(after reason: Disconnection) -> Bool { false }
    /// Whether all is there that the next attempt needs.
    var isReadyToConnect: Bool { true }
    /// The first attempt has failed.
    func opened(failing error: ConnectError) {}
    /// It is over; nothing follows.
    func ended(_ reason: Disconnection) {}
}

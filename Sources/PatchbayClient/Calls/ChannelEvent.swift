public import Wire

/// An event of a user's calls on this device, or of the connection to the gateway, in order.
public enum ChannelEvent: Sendable {
    /// A call rings, until it is `changed` to active or has `ended`.
    case incoming(Call)
    /// A call that this device made, or took over from another one.
    case begun(Call)
    /// The call's state or a member has changed. The event is nil if a reply or a reconnect reported the change first.
    case changed(Call, CallEvent?)
    /// The call has ended on this device. Once for each `incoming` and `begun`.
    case ended(Call, CallEnding)
    /// For an assistant's process that has registered as a worker: an event of a job.
    case job(JobEvent)
    /// The connection was lost; reconnect attempt number `attempt` follows after `delay`. Calls continue.
    case reconnecting(attempt: Int, delay: Duration, because: Disconnection)
    /// Connected again, or renewed with another token. `Channel.calls` is current; events for what has changed follow.
    case reconnected
    /// The channel has ended; so does the stream.
    case disconnected(Disconnection)

    init(_ update: CallUpdate, on channel: ChannelHandle) {
        func attach(_ call: Call) -> Call {
            var call = call
            call.channel = channel
            return call
        }
        self =
            switch update {
            case .appeared(let call) where call.direction == .incoming && !call.isHere: .incoming(attach(call))
            case .appeared(let call): .begun(attach(call))
            case .changed(let call, let event): .changed(attach(call), event)
            case .ended(let call, let ending): .ended(attach(call), ending)
            }
    }
}

/// Why a call could not be joined.
public enum CallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The request failed. The error code `conflict` means that another party was faster or that another call is in the way.
    case request(RequestFailure)
    /// The call ended before its room was joined: all callees were busy, for example. There is an `ended` event only if the call was shown.
    case over(CallEnding)
    /// The call's room could not be joined. The client has hung up.
    case room(ConnectError)

    public var description: String {
        switch self {
        case .request(let failure): "\(failure)"
        case .over(let ending): "the call has ended: \(ending)"
        case .room(let error): "cannot join the call's room: \(error)"
        }
    }
}

/// Counters of a channel since it was opened.
public struct ChannelStatistics: Sendable, Hashable {
    /// Round-trip time of the last answered ping; nil before the first.
    public internal(set) var roundTrip: Duration?
    /// Reconnects and renewals on a new connection.
    public internal(set) var reconnects: UInt64 = 0
    /// Events dropped because the reader of `events` fell behind.
    public internal(set) var eventsOverflowed: UInt64 = 0
    /// Messages that could not be parsed, events of a later version, and replies without a pending request.
    public internal(set) var messagesUnread: UInt64 = 0
}

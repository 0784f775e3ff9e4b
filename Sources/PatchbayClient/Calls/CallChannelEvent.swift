public import Wire

/// What happens to a user's calls on this device, and to our connection with the gateway, in order.
public enum CallChannelEvent: Sendable {
    /// Somebody calls: ring, until this call is `changed` to active or has `ended`.
    case incoming(Call)
    /// A call that this device has made, or has taken over from another.
    case begun(Call)
    /// A call has another state, or another has come or gone, is held or muted. The event tells what happened; it is nil where an answer to
    /// a request of ours told it first, or a reconnect.
    case changed(Call, CallEvent?)
    /// Take it off the screen: talked out, cancelled, answered elsewhere, not answered, … Comes once for each `incoming` and `begun`.
    case ended(Call, CallEnding)
    /// The connection was lost; attempt number `attempt` to come back follows after `delay`. Calls go on.
    case reconnecting(attempt: Int, delay: Duration, because: Disconnection)
    /// We are back, or have renewed the token, and `CallChannel.calls` is what the gateway says. What has changed meanwhile follows.
    case reconnected
    /// It is over. Nothing follows, and the stream ends.
    case disconnected(Disconnection)

    init(_ update: CallUpdate, through door: ChannelDoor) {
        func open(_ call: Call) -> Call {
            var call = call
            call.door = door
            return call
        }
        self =
            switch update {
            case .appeared(let call) where call.direction == .incoming && !call.isHere: .incoming(open(call))
            case .appeared(let call): .begun(open(call))
            case .changed(let call, let event): .changed(open(call), event)
            case .ended(let call, let ending): .ended(open(call), ending)
            }
    }
}

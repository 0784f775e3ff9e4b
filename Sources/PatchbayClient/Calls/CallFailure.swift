/// Why somebody did not get into a call.
public enum CallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The gateway was asked in vain. Where it refused with the code `conflict`, somebody else was first, or another call is in the way.
    case request(RequestFailure)
    /// It had ended before we were in its room: everybody was busy, say. Events tell of it only where it was on the screen already.
    case over(CallEnding)
    /// The call is there, but its room could not be joined. We have hung up.
    case room(ConnectError)

    public var description: String {
        switch self {
        case .request(let failure): "\(failure)"
        case .over(let ending): "the call is over: \(ending)"
        case .room(let error): "the call's room cannot be joined: \(error)"
        }
    }
}

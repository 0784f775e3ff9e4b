/// Why an administrator's call was not done.
public enum AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no answer.
    case unreachable(ConnectError)
    /// The gateway said no: HTTP status, its code, a sentence.
    case refused(status: Int, code: String, message: String)
    /// The answer is not what it should be: the gateway is of another version, or it is no gateway.
    case badAnswer(status: Int)

    public var description: String {
        switch self {
        case .unreachable(let error): error.description
        case .refused(let status, let code, let message): "\(message) (HTTP \(status), \(code))"
        case .badAnswer(let status): "the answer (HTTP \(status)) is not a gateway's"
        }
    }
}

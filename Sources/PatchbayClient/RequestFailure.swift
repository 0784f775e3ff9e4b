public import Wire

/// Why a request of ours was not done.
public enum RequestFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The gateway, or the one called, said no.
    case refused(RequestError)
    /// No answer came in time. It may have been done nevertheless.
    case timedOut
    /// The connection is lost at present, or was lost before the answer came. It may have been done nevertheless.
    case notConnected
    /// We have left the room or closed the channel, or it has ended for us.
    case ended
    /// More than `StreamLimits.requestsMax` requests wait already.
    case tooMany
    /// The request would be longer than 64 KiB as JSON.
    case tooLarge
    /// The answer lacks what it should hold: the gateway is of another version.
    case badAnswer

    /// The error of a remote procedure, if it was one that failed.
    public var procedureError: ProcedureError? {
        guard case .refused(let error) = self, let code = error.code.rpc else { return nil }
        return ProcedureError(code: code, message: error.message)
    }

    /// Whether the same request may succeed when it is made again. It may have been done already, except where it was refused.
    public var isRetryable: Bool {
        switch self {
        case .refused(let error): error.retryable
        case .timedOut, .notConnected, .tooMany: true
        case .ended, .tooLarge, .badAnswer: false
        }
    }

    public var description: String {
        switch self {
        case .refused(let error): "\(error)"
        case .timedOut: "no answer came in time"
        case .notConnected: "not connected to the gateway at present"
        case .ended: "the connection is over"
        case .tooMany: "\(StreamLimits.requestsMax) requests wait for their answers already"
        case .tooLarge: "the request is longer than \(ProtocolLimits.controlBytesMax) bytes as JSON"
        case .badAnswer: "the gateway's answer lacks what it should hold"
        }
    }
}

public import Wire

/// Requests that wait for a reply, by request id. A pure value; time is an argument.
struct PendingRequests<Waiter> {
    private var waiting: [UInt64: (waiter: Waiter, deadline: Instant)] = [:]
    private var lastID: UInt64 = 0

    var count: Int { waiting.count }

    /// The earliest deadline. O(pending requests).
    var deadline: Instant? { waiting.values.lazy.map(\.deadline).min() }

    /// Adds a request and returns its id, unique on this connection.
    mutating func add(_ waiter: Waiter, deadline: Instant) -> UInt64 {
        lastID += 1
        waiting[lastID] = (waiter, deadline)
        return lastID
    }

    /// Adds a request and encodes it with its id.
    ///
    /// - Returns: the encoded request; nil, with nothing added, if it exceeds `ProtocolLimits.controlBytesMax`.
    mutating func add(_ waiter: Waiter, deadline: Instant, encodedBy encode: (UInt64) -> [UInt8]) -> [UInt8]? {
        let id = add(waiter, deadline: deadline)
        let request = encode(id)
        guard request.count <= ProtocolLimits.controlBytesMax else {
            _ = take(id)
            return nil
        }
        return request
    }

    /// Removes and returns the waiter of a reply; nil for an unknown or expired id.
    mutating func take(_ id: UInt64) -> Waiter? {
        waiting.removeValue(forKey: id)?.waiter
    }

    /// Removes and returns the expired requests, oldest first.
    mutating func takeExpired(at now: Instant) -> [Waiter] {
        take { $0.deadline <= now }
    }

    mutating func takeAll() -> [Waiter] {
        take { _ in true }
    }

    private mutating func take(where predicate: ((waiter: Waiter, deadline: Instant)) -> Bool) -> [Waiter] {
        let ids = waiting.filter { predicate($0.value) }.keys.sorted()
        return ids.compactMap { take($0) }
    }
}

/// Why a request failed.
public enum RequestFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The gateway, or the called participant, refused it.
    case refused(RequestError)
    /// No reply arrived in time. The request may have been carried out.
    case timedOut
    /// The connection is lost, or was lost before the reply arrived. The request may have been carried out.
    case notConnected
    /// The room was left, the channel was closed, or the gateway ended it.
    case ended
    /// `StreamLimits.requestsMax` requests are already pending.
    case tooMany
    /// The request exceeds 64 KiB as JSON.
    case tooLarge
    /// The reply lacks required fields: the gateway runs another version.
    case badAnswer

    /// The error of a remote procedure, if one failed.
    public var procedureError: ProcedureError? {
        guard case .refused(let error) = self, let code = error.code.rpc else { return nil }
        return ProcedureError(code: code, message: error.message)
    }

    /// Whether the same request may succeed later. Unless it was refused, it may have been carried out already.
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
        case .timedOut: "the gateway did not reply in time; the request may have been carried out"
        case .notConnected: "the connection to the gateway is lost; retry after the reconnect"
        case .ended: "the connection has ended; connect again"
        case .tooMany: "\(StreamLimits.requestsMax) requests are already pending; wait for their replies"
        case .tooLarge: "the request exceeds \(ProtocolLimits.controlBytesMax) bytes as JSON; send less"
        case .badAnswer: "the gateway's reply lacks required fields; check its version"
        }
    }
}

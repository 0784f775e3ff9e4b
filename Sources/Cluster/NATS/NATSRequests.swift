internal import Wire

/// Requests that wait for answers. Deterministic: time is an argument.
struct NATSRequests {
    typealias Completion = @Sendable (Result<[UInt8], Failure>) -> Void

    enum Failure: Error, Hashable {
        /// No answer has arrived in time, or the connection was lost. The request may have taken effect.
        case unavailable
        /// The subject has no subscriber.
        case noResponders
        /// The library did not send it.
        case refused(String)
    }

    private struct Pending {
        let completion: Completion
        let deadline: Instant
    }

    private var pending: [UInt64: Pending] = [:]
    private var nextNumber: UInt64 = 1
    /// No pending request has a lower number.
    private var oldest: UInt64 = 1

    /// - Parameter deadline: not before that of earlier requests.
    /// - Returns: the number of the request; nil if too many are pending.
    mutating func add(deadline: Instant, completion: @escaping Completion) -> UInt64? {
        guard pending.count < NATSLimits.pendingRequestsMax else { return nil }
        defer { nextNumber += 1 }
        pending[nextNumber] = Pending(completion: completion, deadline: deadline)
        return nextNumber
    }

    /// Ends a request; nil if it has ended before.
    mutating func take(_ number: UInt64) -> Completion? { pending.removeValue(forKey: number)?.completion }

    /// Ends the requests whose deadlines have passed.
    mutating func takeExpired(at now: Instant) -> [Completion] {
        var expired: [Completion] = []
        while let deadline = nextDeadline(), deadline <= now {
            if let completion = take(oldest) { expired.append(completion) }
        }
        return expired
    }

    mutating func takeAll() -> [Completion] {
        defer { pending = [:] }
        return pending.sorted { $0.key < $1.key }.map(\.value.completion)
    }

    /// The deadline of the oldest pending request; nil if there is none.
    mutating func nextDeadline() -> Instant? {
        guard !pending.isEmpty else { return nil }
        // Each number is skipped once.
        while pending[oldest] == nil { oldest += 1 }
        return pending[oldest]?.deadline
    }
}

internal import Backend

/// HTTP counters of one shard.
package struct HTTPCounters: Sendable {
    struct Outcome: Hashable, Sendable {
        /// Empty if no route matched.
        var route: String
        var status: Int
    }

    private(set) var requests: [Outcome: UInt64] = [:]
    /// By route, in seconds, from the complete request to its response.
    private(set) var secondsOfRoute: [String: Double] = [:]
    private(set) var seconds = Histogram(bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5])

    mutating func count(route: String?, status: Int, seconds: Double) {
        let route = route ?? ""
        requests[Outcome(route: route, status: status), default: 0] += 1
        secondsOfRoute[route, default: 0] += seconds
        self.seconds.add(seconds)
    }
}

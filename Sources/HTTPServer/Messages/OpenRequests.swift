internal import HTTPTypes
package import Sockets
package import Wire

/// One shard's HTTP requests with a running handler. A request counts until its handler returns, even if the client has disconnected.
package struct OpenRequests {
    /// Per shard. Requests above it are refused.
    static let countMax = 1_024
    /// Per client address.
    static let countOfAddressMax = 64

    package static let tooMany = HTTPError(
        .tooManyRequests, "the gateway has more requests than it can answer now; try again",
        retryAfterSeconds: 1)

    package struct Request {
        package let exchange: HTTPExchange
        package let receivedAt: Instant
    }

    private var open: [Int: Request] = [:]
    private var countOfAddress: [String: Int] = [:]
    private var last = 0

    package init() {}

    package var isEmpty: Bool { open.isEmpty }

    /// - Returns: the number that identifies the request when its response arrives.
    package mutating func add(_ exchange: HTTPExchange, at now: Instant) throws(HTTPError) -> Int {
        let countOfThis = countOfAddress[exchange.peerAddress] ?? 0
        guard open.count < Self.countMax, countOfThis < Self.countOfAddressMax else { throw Self.tooMany }
        countOfAddress[exchange.peerAddress] = countOfThis + 1
        last += 1
        open[last] = Request(exchange: exchange, receivedAt: now)
        return last
    }

    package mutating func take(_ number: Int) -> Request? {
        guard let request = open.removeValue(forKey: number) else { return nil }
        let address = request.exchange.peerAddress
        let left = (countOfAddress[address] ?? 1) - 1
        countOfAddress[address] = left == 0 ? nil : left
        return request
    }
}

internal import NIOHTTP1
internal import Wire

/// A client for one gateway's HTTP API. Each request uses its own connection.
struct GatewayHTTP: Sendable {
    var address: GatewayAddress
    var trust: TLSTrust
    /// The maximum duration of each request.
    var timeout: Duration

    /// - Parameters:
    ///   - token: the bearer token.
    ///   - body: JSON; empty for none.
    func send(
        _ method: HTTPMethod, _ target: String, token: String? = nil, body: [UInt8] = [], idempotencyKey: String? = nil
    ) async throws(AccountError) -> HTTPExchangeResponse {
        var headers = HTTPHeaders()
        do throws(ConnectError) {
            if let token {
                try ConnectError.check(token: token)
                headers.add(name: "Authorization", value: "Bearer \(token)")
            }
            if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
            if let idempotencyKey { headers.add(name: "Idempotency-Key", value: idempotencyKey) }
            return try await HTTPExchange.send(
                method, to: address, target: target, headers: headers, body: body, trust: trust, timeout: timeout)
        } catch {
            throw .unreachable(error)
        }
    }

    /// Encodes a body as JSON. This fails only for non-finite numbers, which no body contains.
    static func body(_ value: some Encodable, names: JSONNames = .snakeCase) -> [UInt8] {
        do { return try JSON.encode(value, names: names) } catch { preconditionFailure("a body cannot be encoded: \(error)") }
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986 section 2.3).
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

/// The body of an error response.
struct GatewayErrorBody: Decodable {
    var code: String
    var message: String

    /// - Returns: nil if the response did not come from a gateway.
    init?(_ response: HTTPExchangeResponse) {
        guard let body = try? JSON.decode(Self.self, from: response.body, names: .snakeCase) else { return nil }
        self = body
    }
}

extension HTTPExchangeResponse {
    /// - Throws: `AccountError.refused` for an error response of the gateway.
    func checked() throws(AccountError) -> Self {
        if (200..<300).contains(status) { return self }
        guard let error = GatewayErrorBody(self) else { throw .badAnswer(status: status) }
        throw .refused(
            GatewayRefusal(
                status: status, code: .init(rawValue: error.code), message: error.message,
                retryAfter: retryAfterSeconds.map { .seconds($0) }))
    }

    func decoded<Value: Decodable>(_: Value.Type) throws(AccountError) -> Value {
        let body = try checked().body
        do { return try JSON.decode(Value.self, from: body, names: .snakeCase) } catch { throw .badAnswer(status: status) }
    }

    /// The cursor in `Link: </v1/…?cursor=…>; rel="next"`.
    var nextCursor: String? {
        guard let link, link.contains("rel=\"next\""), let target = link.split(separator: ">").first,
            let query = target.split(separator: "?").last
        else { return nil }
        return query.split(separator: "&").first { $0.hasPrefix("cursor=") }.map { String($0.dropFirst("cursor=".count)) }
    }
}

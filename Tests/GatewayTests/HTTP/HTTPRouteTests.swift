import Backend
import CZlib
import Foundation
import Gateway
import HTTPServer
import Testing
import Wire

@Suite("An HTTP route", .onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct HTTPRouteTests {
    private let gate = Gate()
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway(routes: WishList.routes(gate: gate)) { $0.edge.allowedOrigins = ["https://app.example"] }
    }

    private func ask(_ method: String, _ path: String, _ fields: [(name: String, value: String)] = []) throws -> HTTPAnswer {
        try #require(try HTTPConnection(gateway).answer(to: HTTPAsk(method: method, path: path, fields: fields)))
    }

    @Test("receives a percent-decoded path parameter and a body")
    func parameterAndBody() throws {
        let answer = try #require(
            try HTTPConnection(gateway).answer(to: .json("POST", "/v1/lists/b%C3%A4r%20'--/wishes", #"{"title":"ball","count":3}"#)))
        #expect(answer.status == 201)
        #expect(answer.json?["list"] as? String == "bär '--")
        #expect((answer.json?["wish"] as? [String: Any])?["count"] as? Int == 3)
    }

    @Test("is answered with the security fields", arguments: ["/healthz", "/nowhere", "/v1/lists/x"])
    func securityFields(path: String) throws {
        let fields = try ask("GET", path).fields
        #expect(fields["cache-control"] == "no-store")
        #expect(fields["x-content-type-options"] == "nosniff")
        #expect(fields["strict-transport-security"] == "max-age=31536000")
    }

    @Test("with a literal segment takes precedence over a parameter")
    func literalFirst() throws {
        #expect(try ask("GET", "/v1/lists/shared").status == 200)
        #expect(try ask("GET", "/v1/lists/other").status == 401)
    }

    @Test("answers another method with 405 and the allowed ones", arguments: ["PUT", "POST", "PATCH"])
    func wrongMethod(method: String) throws {
        let answer = try ask(method, "/v1/lists/x", [("Content-Length", "0")])
        #expect(answer.status == 405)
        #expect(answer.code == "method_not_allowed")
        #expect(answer.fields["allow"] == "DELETE, GET, HEAD, OPTIONS")
    }

    @Test("without content sends no length")
    func noContent() throws {
        let answer = try ask("DELETE", "/v1/lists/x", [("Authorization", WishList.token)])
        #expect(answer.status == 204)
        #expect(answer.fields["content-length"] == nil)
    }

    // MARK: Request IDs

    @Test("echoes the client's request ID if valid, otherwise makes a new one")
    func requestIDs() throws {
        #expect(try ask("GET", "/healthz", [("X-Request-ID", "app-1.7:b")]).fields["x-request-id"] == "app-1.7:b")
        let made = try #require(try ask("GET", "/healthz").fields["x-request-id"])
        #expect(made.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        for bad in ["a b", "a\"b", "<script>", String(repeating: "x", count: 129)] {
            let id = try ask("GET", "/healthz", [("X-Request-ID", bad)]).fields["x-request-id"]
            #expect(id?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        }
    }

    // MARK: CORS

    @Test("may be called by pages of allowed origins only")
    func origins() throws {
        let allowed = try ask("GET", "/healthz", [("Origin", "https://app.example")])
        #expect(allowed.fields["access-control-allow-origin"] == "https://app.example")
        #expect(allowed.fields["vary"] == "Origin")
        let other = try ask("GET", "/healthz", [("Origin", "https://app.example.evil")])
        #expect(other.fields["access-control-allow-origin"] == nil)
        #expect(other.fields["vary"] == "Origin")
    }

    @Test("answers preflight requests")
    func preflight() throws {
        let fields = [
            (name: "Origin", value: "https://app.example"), (name: "Access-Control-Request-Method", value: "DELETE"),
            (name: "Access-Control-Request-Headers", value: "authorization"),
        ]
        let answer = try ask("OPTIONS", "/v1/lists/x", fields)
        #expect(answer.status == 204)
        #expect(answer.fields["access-control-allow-methods"] == "DELETE, GET, HEAD, OPTIONS")
        #expect(answer.fields["access-control-allow-headers"]?.contains("Authorization") == true)
        #expect(try ask("OPTIONS", "/nowhere", fields).status == 404)
        #expect(try ask("OPTIONS", "/v1/lists/x", [("Origin", "https://evil.example")]).fields["access-control-allow-methods"] == nil)
    }

    @Test("allows no origins by default")
    func noOrigins() throws {
        let gateway = try TestGateway()
        let answer = try HTTPConnection(gateway).answer(to: HTTPAsk(path: "/healthz", fields: [("Origin", "https://app.example")]))
        #expect(answer?.fields["access-control-allow-origin"] == nil)
    }

    // MARK: Compression

    @Test(
        "compresses large responses for clients that accept it",
        arguments: [
            ("gzip", true), ("br;q=1.0, gzip;q=0.8", true), ("*", true), ("GZIP", true), ("gzip;q=0", false), ("identity", false),
            ("*;q=0", false), ("", false),
        ])
    func gzip(field: String, isCompressed: Bool) throws {
        let answer = try ask("GET", "/v1/lists/a/wishes?limit=200", field.isEmpty ? [] : [("Accept-Encoding", field)])
        #expect((answer.fields["content-encoding"] == "gzip") == isCompressed)
        #expect(answer.fields["vary"]?.contains("Accept-Encoding") == true)
        let body = isCompressed ? inflated(answer.body) : answer.body
        #expect((try JSONSerialization.jsonObject(with: Data(body)) as? [Any])?.count == 200)
        if isCompressed { #expect(answer.body.count < body.count / 2) }
    }

    @Test("does not compress small responses or audio")
    func notCompressed() throws {
        #expect(try ask("GET", "/v1/lists/a/wishes", [("Accept-Encoding", "gzip")]).fields["content-encoding"] == nil)
        #expect(try ask("GET", "/v1/sound?bytes=100000", [("Accept-Encoding", "gzip")]).fields["content-encoding"] == nil)
    }

    private func inflated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var stream = z_stream()
        inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&stream) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            [UInt8](unsafeUninitializedCapacity: 1 << 20) { room, count in
                stream.next_in = bytes.baseAddress
                stream.avail_in = UInt32(bytes.count)
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                count = inflate(&stream, Z_FINISH) == Z_STREAM_END ? room.count - Int(stream.avail_out) : 0
            }
        }
    }

    // MARK: Failures

    @Test("that fails answers 500 without the reason")
    func broken() throws {
        let answer = try ask("GET", "/v1/broken")
        #expect(answer.status == 500)
        #expect(answer.code == "internal_error")
        #expect(!answer.text.contains("nobody"))
    }

    @Test("refuses only an address with 64 requests in flight")
    func tooManyOfAnAddress() throws {
        let gateway = try TestGateway(routes: WishList.routes(gate: gate)) { $0.shardCount = 1 }
        let source = Loopback.fresh()
        let busy = try (0..<64).map { _ in
            let connection = try HTTPConnection(gateway, from: source)
            try connection.send(HTTPAsk(path: "/v1/lists/a/late"))
            return connection
        }
        try Patience.until("all are under way") { gate.waitingCount == 64 }
        let refused = try #require(try HTTPConnection(gateway, from: source).answer(to: HTTPAsk(path: "/healthz")))
        #expect(refused.status == 503)
        #expect(refused.code == "too_many_requests")
        #expect(refused.fields["retry-after"] == "1")
        #expect(try gateway.get("/healthz")?.status == 200)
        #expect(try gateway.value(.httpRefused("too_many_requests")) == 1)
        gate.open()
        for connection in busy { #expect(try connection.next()?.status == 200) }
        #expect(try HTTPConnection(gateway, from: source).answer(to: HTTPAsk(path: "/healthz"))?.status == 200)
    }

    @Test("answers bad tokens with 429 after twenty, and valid ones of the address as usual")
    func failedAttempts() throws {
        let source = Loopback.fresh()
        let bad = HTTPAsk(path: "/v1/lists/x", fields: [("Authorization", "Bearer guess")])
        for _ in 0..<20 { #expect(try HTTPConnection(gateway, from: source).answer(to: bad)?.status == 401) }
        let good = HTTPAsk(path: "/v1/lists/x", fields: [("Authorization", WishList.token)])
        #expect(try HTTPConnection(gateway, from: source).answer(to: bad)?.status == 429)
        #expect(try HTTPConnection(gateway, from: source).answer(to: good)?.status == 200)
        #expect(try HTTPConnection(gateway).answer(to: bad)?.status == 401)
    }

    @Test("is counted by outcome")
    func counters() throws {
        _ = try ask("GET", "/v1/lists/x")
        _ = try ask("GET", "/v1/lists/y", [("Authorization", WishList.token)])
        _ = try ask("GET", "/nowhere/x")
        let metrics = try gateway.metrics()
        let route = "GET /v1/lists/:list"
        #expect(metrics.value("patchbay_http_requests_total", ["route": route, "status": "401"]) == 1)
        #expect(metrics.value("patchbay_http_requests_total", ["route": route, "status": "200"]) == 1)
        #expect(metrics.value("patchbay_http_requests_total", ["route": "", "status": "404"]) == 1)
        #expect(metrics.value("patchbay_http_seconds_count") == 3)
        #expect(metrics.value("patchbay_http_route_seconds_total", ["route": route]) > 0)
    }
}

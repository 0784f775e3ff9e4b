import HTTPTypes
import Testing
import Wire

@testable import Sockets

/// The request that another node gets: rebuilt from what was read, so that both nodes read the same.
struct ForwardedHeadTests {
    private static func received(
        _ target: String = "/v1/rtc", _ lines: [String] = [], from source: RequestSource? = nil
    ) throws -> ReceivedRequest {
        let head = try RequestHead(Array(Handshake.request(target, lines).utf8))
        let source = source ?? RequestSource(entrance: .clients, address: "192.0.2.7", isTrusted: true)
        return ReceivedRequest(head: head, source: source, isSecure: true)
    }

    private static func forwarded(_ request: ReceivedRequest, adding fields: HTTPFields = [:]) -> String {
        String(decoding: request.forwardedHead(adding: fields), as: UTF8.self)
    }

    @Test func aPlainUpgradeIsForwardedField() throws {
        let text = Self.forwarded(try Self.received("/v1/rtc?access_token=a.b%20c&x", ["Origin: https://a.example", "X-Other:  b\tc "]))
        #expect(
            text == """
                GET /v1/rtc?access_token=a.b%20c&x HTTP/1.1\r
                Host: room.example\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: \(Handshake.key)\r
                Sec-WebSocket-Protocol: patchbay.v1\r
                Origin: https://a.example\r
                x-other: b\tc\r
                X-Forwarded-For: 192.0.2.7\r
                Patchbay-Hops: 1\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                \r

                """)
    }

    @Test(arguments: [
        "/", "/a/b", "//a", "/a%20b", "/%e2%82%ac", "/a%3Fb", "/a%23b", "/a%25b", "/a%2525", "/a%2Fb", "/a+b", "/a%22%5C%7C", "/?",
        "/a?b=c",
        "/a?b=%26&c=%2e%2e/+", "/a%C2%A0?%C2%A0",
    ])
    func theTargetIsReadAsTheSame(target: String) throws {
        let request = try Self.received(target)
        let again = try RequestHead(request.forwardedHead(adding: [:]))
        #expect(again.path == request.head.path)
        #expect(again.query == request.head.query)
    }

    @Test func fieldsOfTheConnectionStayHere() throws {
        let text = Self.forwarded(
            try Self.received(
                "/",
                [
                    "Keep-Alive: 5", "TE: trailers", "Content-Length: 0", "Connection: X-Mine, keep-alive", "X-Mine: a", "Expect: b",
                    "Proxy-Authorization: c", "Proxy-Connection: d", "HTTP2-Settings: e", "Trailer: f",
                ]))
        let names = ["keep-alive", "te:", "content-length", "x-mine", "expect", "proxy-", "http2", "trailer"]
        for name in names { #expect(!text.lowercased().contains(name), "\(name)") }
    }

    @Test func fieldsThatDecideAreForwardedWhateverConnectionNames() throws {
        let fields = ["Connection: Origin, Authorization, Sec-WebSocket-Key, Host", "Origin: https://a.example", "Authorization: Bearer b"]
        let head = try RequestHead(Self.received("/", fields).forwardedHead(adding: [:]))
        #expect(head.upgrades && head.host == "room.example")
        #expect(head.fields[.origin] == "https://a.example" && head.fields[.authorization] == "Bearer b")
    }

    @Test func theAddressIsTheOneThatThisNodeHasFound() throws {
        let invented = ["X-Forwarded-For: 10.0.0.1", "x-forwarded-for: 10.0.0.2", "Patchbay-Hops: 7", "patchbay-hops: 8"]
        let head = try RequestHead(Self.received("/", invented).forwardedHead(adding: [:]))
        #expect(head.fields[values: .forwardedFor] == ["192.0.2.7"])
        #expect(head.fields[values: .patchbayHops] == ["1"])
    }

    @Test func addedFieldsReplaceTheClients() throws {
        let name = HTTPField.Name("X-Node")!
        let head = try RequestHead(Self.received("/", ["X-Node: invented", "x-node: too"]).forwardedHead(adding: [name: "real"]))
        #expect(head.fields[values: name] == ["real"])
    }

    @Test(
        arguments: [
            (Entrance.clients, true, "1", 0), (.operations, true, "1", 0), (.proxies, false, "1", 0), (.nodes, false, "1", 0),
            (.proxies, true, "1", 1), (.nodes, true, "1", 1), (.nodes, true, "0", 0), (.nodes, true, "x", 1), (.nodes, true, "-1", 1),
            (.nodes, true, "999", 1), (.nodes, true, "", 1),
        ] as [(Entrance, Bool, String, Int)])
    func hopsCountFromTrustedPeersOnly(entrance: Entrance, isTrusted: Bool, value: String, hops: Int) throws {
        let source = RequestSource(entrance: entrance, address: "192.0.2.7", isTrusted: isTrusted)
        #expect(try Self.received("/", ["Patchbay-Hops: \(value)"], from: source).hops == hops)
    }

    // MARK: The response

    private static func response(_ text: String) throws -> ForwardedResponse {
        var collector = HeadCollector()
        var rest = Array(text.utf8)[...]
        guard try collector.take(from: &rest) == .complete else { throw RequestFault.requestLine }
        return try ForwardedResponse(checked: collector.bytes)
    }

    @Test func anUpgradeIsPassedOnUnchanged() throws {
        let response = try Self.response(Handshake.response)
        #expect(response.accepts(try Self.received().head))
        #expect(try Self.response(String(decoding: response.switchingProtocols, as: UTF8.self)).accepts(try Self.received().head))
    }

    @Test(arguments: [
        ("Upgrade: websocket", "Upgrade: other"), ("Connection: Upgrade", "Connection: close"), (Handshake.acceptance, "AAAA"),
        ("patchbay.v1", "patchbay.v2"), ("\r\n\r\n", "\r\nContent-Length: 0\r\n\r\n"),
        ("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ])
    func anUpgradeThatIsNoneIsRefused(part: String, replacement: String) throws {
        let response = try Self.response(Handshake.response.replacing(part, with: replacement))
        #expect(!response.accepts(try Self.received().head))
    }

    @Test(arguments: [
        "HTTP/1.0 101 Switching", "HTTP/1.1 1x1 a", "HTTP/1.1 1011 a", "HTTP/1.1  101 a", "HTTP/2 101 a", "101", "", "HTTP/1.1 101\ta",
    ])
    func aMalformedStatusLineIsRefused(line: String) {
        #expect(throws: RequestFault.self) { try Self.response("\(line)\r\nUpgrade: websocket\r\n\r\n") }
    }

    @Test(arguments: [
        "A: b\nC: d", "A: b\r\n c", "A : b", "A: \u{1}", "Content-Length: 1\r\nContent-Length: 1", "Content-Length: -1", ": a",
    ])
    func aMalformedFieldIsRefused(lines: String) {
        #expect(throws: RequestFault.self) { try Self.response("HTTP/1.1 403 Forbidden\r\n\(lines)\r\n\r\n") }
    }
}

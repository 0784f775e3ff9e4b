import HTTPTypes
import Sockets
import Testing
import Wire

/// The request that libwebsockets gets in place of a client's (`RequestHead.forLibrary`).
///
/// libwebsockets 4.1 and 4.3 overlook a field that follows one whose name is a proper beginning of a name that they know, so that a client
/// could hide a length, and with it another request, or the address that a proxy appended.
struct LibraryRequestTests {
    /// Names that libwebsockets knows (`lws_token_indexes` in lws-http.h, 4.1 to 4.3), and the words of request lines in the same table.
    static let known: Set<String> = [
        "get", "post", "options", "put", "patch", "delete", "head", "connect", "proxy", "http",
        "host", "connection", "upgrade", "origin", "sec-websocket-draft", "sec-websocket-extensions", "sec-websocket-key1",
        "sec-websocket-key2",
        "sec-websocket-protocol", "sec-websocket-accept", "sec-websocket-nonce", "http2-settings", "accept",
        "access-control-request-headers",
        "if-modified-since", "if-none-match", "accept-encoding", "accept-language", "pragma", "cache-control", "authorization", "cookie",
        "content-length", "content-type", "date", "range", "referer", "sec-websocket-key", "sec-websocket-version", "sec-websocket-origin",
        "accept-charset", "accept-ranges", "access-control-allow-origin", "age", "allow", "content-disposition", "content-encoding",
        "content-language", "content-location", "content-range", "etag", "expect", "expires", "from", "if-match", "if-range",
        "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate", "proxy-authorization", "refresh",
        "retry-after", "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via",
        "www-authenticate", "x-real-ip", "x-forwarded-for", "te", "replay-nonce", "x-auth-token", "x-amzn-dss-signature",
    ]

    /// Proper beginnings of these names. Without `sec-websocket-key`, which begins `sec-websocket-key1` and has a meaning itself.
    private static let beginnings = Set(known.flatMap { name in (1..<name.count).map { String(name.prefix($0)) } })
        .subtracting(["sec-websocket-key"]).sorted()

    private static let plain = "GET / HTTP/1.1\r\nHost: patchbay\r\n"
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let upgrade =
        plain + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: \(key)\r\n"

    private static func read(_ lines: [String]) throws -> RequestHead {
        try RequestHead(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    private static func library(_ head: RequestHead) -> String { String(decoding: head.forLibrary, as: UTF8.self) }

    private static let dangerous: [(name: String, value: String)] = [
        ("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Host", "hidden"), ("Origin", "https://hidden.example"),
        ("Authorization", "Bearer hidden"), ("X-Forwarded-For", "192.0.2.1"), ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Protocol", "patchbay.v1"), ("Connection", "close"),
    ]

    @Test(arguments: dangerous.indices)
    func aBeginningOfAKnownNameHidesNoField(index: Int) throws {
        let (name, value) = Self.dangerous[index]
        let host = name == "Host" ? [] : ["Host: h"]
        let field = HTTPField.Name(name)!
        let library = Array((name == "Connection" ? Self.plain + "Connection: close\r\n\r\n" : Self.plain + "\r\n").utf8)
        for beginning in Self.beginnings {
            for lines in [
                ["\(beginning): a", "\(name): \(value)"] + host, host + ["\(beginning): a", "\(name): \(value)"],
                host + ["\(name): \(value)", "\(beginning): a"],
                host + ["\(beginning):a", "\(beginning.uppercased()): b", "\(name):\(value)"],
            ] {
                let head = try Self.read(["POST /hidden HTTP/1.1"] + lines)
                let body: RequestHead.Body =
                    switch name {
                    case "Content-Length": .length(5)
                    case "Transfer-Encoding": .chunked
                    default: .none
                    }
                guard head.fields[field] == value, head.body == body, head.host == (name == "Host" ? value : "h"),
                    head.forLibrary == library
                else {
                    Issue.record("\(lines)")
                    continue
                }
            }
        }
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked", "Host: hidden", "Origin: a", "Authorization: a"])
    func aBeginningOfAKnownNameHidesNoSecondField(line: String) {
        for beginning in Self.beginnings {
            #expect(throws: RequestFault.self, "\(beginning)") {
                try Self.read(["POST / HTTP/1.1", "Host: h", line, "\(beginning): a", line])
            }
        }
    }

    @Test func aBeginningOfAKnownNameHidesNothingOfAnUpgrade() throws {
        let fields = [
            "Host: h", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(Self.key)",
            "Sec-WebSocket-Protocol: patchbay.bearer.hidden, patchbay.v1", "Origin: hidden",
        ]
        let library = Array((Self.upgrade + "Sec-WebSocket-Protocol: patchbay.v1\r\n\r\n").utf8)
        for beginning in Self.beginnings {
            for position in 0...fields.count {
                var lines = fields
                lines.insert("\(beginning): hidden", at: position)
                let head = try Self.read(["GET /v1/rtc?access_token=hidden HTTP/1.1"] + lines)
                guard head.upgrades, head.fields[.origin] == "hidden", head.subprotocols.count == 2, head.forLibrary == library else {
                    Issue.record("\(lines)")
                    continue
                }
            }
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.0", [], "Connection: close\r\n"), ("DELETE /a HTTP/1.1", ["Connection: close"], "Connection: close\r\n"),
        ("HEAD /b HTTP/1.1", ["Connection: keep-alive", "TE: trailers"], ""),
        ("PUT /c?d HTTP/1.1", ["Content-Length: 3", "Expect: 100-continue", "Cookie: e"], ""),
        ("GET / HTTP/1.1", ["Connection: Upgrade", "Sec-WebSocket-Key: x", "Sec-WebSocket-Protocol: patchbay.v1"], ""),
    ])
    func aPlainRequestIsAlwaysTheSame(line: String, fields: [String], more: String) throws {
        let head = try Self.read([line, "Host: h"] + fields)
        #expect(Self.library(head) == Self.plain + more + "\r\n")
    }

    @Test(arguments: [
        ("patchbay.v1", true), ("patchbay.bearer.t,patchbay.v1", true), ("patchbay.v1 , patchbay.bearer.t", true),
        ("a\r\nSec-WebSocket-Protocol: patchbay.v1", true),
        ("patchbay.v2", false), ("PATCHBAY.V1", false), ("patchbay.v1;a", false), ("patchbay.bearer.patchbay.v1", false), ("", false),
    ])
    func onlyTheGatewaysSubprotocolIsPassedOnIfItIsOffered(value: String, isOffered: Bool) throws {
        let head = try Self.read([
            "GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: \(Self.key)", "Sec-WebSocket-Protocol: \(value)", "Sec-WebSocket-Extensions: permessage-deflate",
        ])
        let subprotocol = isOffered ? "Sec-WebSocket-Protocol: \(ProtocolLimits.subprotocol)\r\n" : ""
        #expect(Self.library(head) == Self.upgrade + subprotocol + "\r\n")
    }

    @Test(arguments: ["Upgrade, close", "close, upgrade"])
    func anUpgradeHasOneConnectionField(options: String) throws {
        let head = try Self.read([
            "GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: \(options)", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: \(Self.key)",
        ])
        #expect(head.isLast)
        #expect(Self.library(head) == Self.upgrade + "\r\n")
    }

    @Test func itHasOnlyNamesThatLibwebsocketsKnowsAndReadsBackAsItself() throws {
        let upgrade = [
            "GET / HTTP/1.1", "Host: h", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: \(Self.key)", "Sec-WebSocket-Protocol: patchbay.v1",
        ]
        for lines in [["GET / HTTP/1.1", "Host: h"], ["GET / HTTP/1.0"], upgrade] {
            let head = try Self.read(lines)
            let again = try RequestHead(head.forLibrary)
            #expect(again.forLibrary == head.forLibrary)
            #expect(again.fields.allSatisfy { Self.known.contains($0.name.canonicalName) })
            #expect(again.upgrades == head.upgrades && again.isLast == head.isLast)
        }
    }
}

import HTTPTypes
import Sockets
import Testing

/// What the gateway takes from the fields of a head.
struct RequestFieldsTests {
    private static func head(_ fields: String, line: String = "GET / HTTP/1.1") throws -> RequestHead {
        try RequestHead(Array((line + "\r\nHost: h\r\n" + fields.replacing("\n", with: "\r\n") + "\r\n").utf8))
    }

    @Test func allFieldsAreKeptInOrderWithNamesInLowerCase() throws {
        let fields = try Self.head("ACCEPT: a\nX-Unknown_1:\t b \t\naccept:c\nX-UNKNOWN_1:\nCookie: d; e\n").fields
        #expect(
            fields.map { "\($0.name.canonicalName)=\($0.value)" } == [
                "host=h", "accept=a", "x-unknown_1=b", "accept=c", "x-unknown_1=", "cookie=d; e",
            ])
        #expect(fields[.accept] == "a, c")
    }

    /// The longest known name has 29 characters.
    @Test func aNameMayHaveAnyLength() throws {
        for length in Array(1...64) + [1_000, 16_000] {
            let name = String(repeating: "x", count: length)
            #expect(try Self.head("\(name): a\n").fields[HTTPField.Name(name)!] == "a")
        }
    }

    @Test(arguments: [
        "Origin:", "Origin: ", "Origin: \t", "ORIGIN:",
    ])
    func anEmptyOriginIsNotAMissingOne(line: String) throws {
        #expect(try Self.head(line + "\n").fields[.origin] == "")
        #expect(try Self.head("").fields[.origin] == nil)
    }

    @Test func addressesOfSeveralFieldsAreInOrder() throws {
        let fields = try Self.head("X-Forwarded-For: 192.0.2.1\nA: b\nx-forwarded-for: 192.0.2.2 , 192.0.2.3\n").fields
        let network = try IPNetwork("127.0.0.1")
        let peer = IPAddress("127.0.0.1")!
        #expect(fields[.forwardedFor] == "192.0.2.1, 192.0.2.2 , 192.0.2.3")
        #expect(
            ProxyTrust(networks: [network]).client(of: peer, forwardedFor: fields[.forwardedFor]).address == IPAddress("192.0.2.3"))
    }

    @Test func bytesThatAreNotASCIIMeanNothing() throws {
        let start = Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8)
        let head = try RequestHead(start + [0xE4, 0xFF] + Array("\r\nContent-Length: 5\r\n\r\n".utf8))
        #expect(head.body == .length(5))
        #expect(head.fields[HTTPField.Name("X")!] == "\u{FFFD}\u{FFFD}")
        #expect(try Self.head("X: ä\n").fields[HTTPField.Name("X")!] == "ä")
        #expect(throws: RequestFault.field) { try Self.head("Xä: a\n") }
    }

    @Test(
        arguments: [
            ("Host", .host), ("Content-Length", .length), ("Transfer-Encoding", .transferEncoding), ("Upgrade", .otherUpgrade),
            ("Sec-WebSocket-Key", .handshake), ("Sec-WebSocket-Version", .webSocketVersion), ("Authorization", .repeatedField),
            ("Origin", .repeatedField), ("Content-Type", .repeatedField), ("Range", .repeatedField), ("If-None-Match", .repeatedField),
            ("Idempotency-Key", .repeatedField), ("X-Request-ID", .repeatedField), ("Access-Control-Request-Method", .repeatedField),
            ("Sec-Fetch-Site", .repeatedField), ("Expect", .repeatedField),
        ] as [(String, RequestFault)], ["", "1", "chunked"])
    func aFieldThatMayOccurOnceIsRefusedTheSecondTime(field: (name: String, fault: RequestFault), value: String) {
        let twice = "\(field.name): \(value)\nX: a\n\(field.name.uppercased()): \(value)\n"
        #expect(throws: field.fault) { try RequestHead(Array("GET / HTTP/1.1\r\n\(twice.replacing("\n", with: "\r\n"))\r\n".utf8)) }
    }

    @Test(arguments: ["Connection", "X-Forwarded-For", "Sec-WebSocket-Protocol", "Accept", "Accept-Encoding", "Cookie", "X"])
    func aListMayBeSpreadOverSeveralFields(name: String) throws {
        #expect(try Self.head("\(name): a\n\(name): b\n").fields.count == 3)
    }

    @Test(arguments: [
        ("", "HTTP/1.1", false), ("Connection: keep-alive\n", "HTTP/1.1", false), ("Connection: close\n", "HTTP/1.1", true),
        ("Connection: Keep-Alive , CLOSE\n", "HTTP/1.1", true), ("Connection: a\nConnection: close\n", "HTTP/1.1", true),
        ("Connection: close, keep-alive\n", "HTTP/1.1", true), ("Connection: close\nConnection: a\n", "HTTP/1.1", true),
        ("Connection: , close\n", "HTTP/1.1", true), ("Connection: a,,close\n", "HTTP/1.1", true),
        ("Connection: closed\n", "HTTP/1.1", false), ("X: close\n", "HTTP/1.1", false), ("", "HTTP/1.0", true),
        ("Connection: keep-alive\n", "HTTP/1.0", true),
    ])
    func theLastRequestOfAConnectionIsKnown(fields: String, version: String, isLast: Bool) throws {
        #expect(try Self.head(fields, line: "GET / \(version)").isLast == isLast)
    }

    @Test func theHostIsTheClients() throws {
        #expect(try RequestHead(Array("GET / HTTP/1.1\r\nhOST:\tvoice.example.org:7880 \r\n\r\n".utf8)).host == "voice.example.org:7880")
        #expect(try RequestHead(Array("GET / HTTP/1.0\r\n\r\n".utf8)).host == nil)
        #expect(throws: RequestFault.host) { try RequestHead(Array("GET / HTTP/1.0\r\nHost:\r\n\r\n".utf8)) }
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
    func methodsOfTheGatewayAreKnown(method: String) throws {
        #expect(try Self.head("", line: "\(method) / HTTP/1.1").method.rawValue == method)
    }

    @Test func subprotocolsAreInTheClientsOrder() throws {
        let head = try Self.head("Sec-WebSocket-Protocol: patchbay.bearer.a.b , patchbay.v1\nSec-WebSocket-Protocol: ,c\n")
        #expect(head.subprotocols.filter { !$0.isEmpty } == ["patchbay.bearer.a.b", "patchbay.v1", "c"])
    }
}

import Sockets
import Testing

/// A request head as text, with `\n` for CR LF.
private func head(_ text: String) throws -> RequestHead { try RequestHead(Array(text.replacing("\n", with: "\r\n").utf8)) }

struct RequestHeadTests {
    @Test(
        arguments: [
            ("GET / HTTP/1.1\nHost: h\n\n", .none), ("GET /a%20b?c=%C3%A4&d HTTP/1.1\nhost: [::1]:7880\n\n", .none),
            ("\n\nGET / HTTP/1.1\nHost: h\n\n", .none), ("HEAD / HTTP/1.0\n\n", .none),
            ("POST / HTTP/1.1\nHost:h\nContent-Length:16\n\n", .length(16)),
            ("PUT / HTTP/1.1\nHost: h\nContent-Length: \t016 \n\n", .length(16)),
            ("PATCH / HTTP/1.1\nHost: h\nContent-Length: 0\n\n", .length(0)),
            ("POST / HTTP/1.1\nHost: h\nContent-Length: 99999999999999999999\n\n", .length(.max)),
            ("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n", .chunked),
            ("DELETE / HTTP/1.1\nHost: h\nX: a\tb \u{E9}\nY:\n\n", .none),
        ] as [(String, RequestHead.Body)])
    func validHeadsTellTheirBody(text: String, body: RequestHead.Body) throws {
        #expect(try head(text).body == body)
    }

    private static let host = "Host: h\n"

    @Test(
        arguments: [
            ("GET /\n\n", .requestLine), ("GET  / HTTP/1.1\n\n", .requestLine), (" GET / HTTP/1.1\n\n", .requestLine),
            ("GET / HTTP/1.1 \n\n", .requestLine), ("GET\t/\tHTTP/1.1\n\n", .requestLine), ("G@T / HTTP/1.1\n\n", .requestLine),
            ("\n\n", .requestLine),
            ("get / HTTP/1.1\n\n", .method), ("Get / HTTP/1.1\n\n", .method), ("BREW / HTTP/1.1\n\n", .unknownMethod),
            ("TRACE / HTTP/1.1\n\n", .unknownMethod), ("CONNECT h:1 HTTP/1.1\n\n", .unknownMethod), ("GET / HTTP/1.2\n\n", .version),
            ("GET / HTTP/2.0\n\n", .version), ("GET / http/1.1\n\n", .version), ("GET / HTTP/1.1x\n\n", .version),
            ("GET / HTTP/01.1\n\n", .version),
            ("GET x HTTP/1.1\n\n", .target), ("GET http://h/ HTTP/1.1\n\n", .target), ("OPTIONS * HTTP/1.1\n\n", .target),
            ("GET /#a HTTP/1.1\n\n", .target), ("GET /\u{E9} HTTP/1.1\n\n", .target), ("GET /%00 HTTP/1.1\n\n", .encoding),
            ("GET /?a=%0a HTTP/1.1\n\n", .encoding), ("GET /%0D HTTP/1.1\n\n", .encoding), ("GET /% HTTP/1.1\n\n", .encoding),
            ("GET /%2 HTTP/1.1\n\n", .encoding), ("GET /%+1 HTTP/1.1\n\n", .encoding), ("GET /a%zz HTTP/1.1\n\n", .encoding),
        ] as [(String, RequestFault)])
    func faultyRequestLinesAreRefused(text: String, fault: RequestFault) {
        #expect(throws: fault) { try head(text) }
    }

    @Test(
        arguments: [
            ("Host h\n", .field), ("Host : h\n", .field), (": h\n", .field), ("Ho st: h\n", .field), ("Host: h\n X: y\n", .folding),
            ("Host: h\n\tX: y\n", .folding), (" Host: h\n", .folding), ("", .host), ("Host:\n", .host), ("Host: a\nHost: a\n", .host),
            ("Host: a b\n", .host),
            ("Host: a,b\n", .host), ("Host: a/b\n", .host), ("Host: a@b\n", .host), ("Host: h\nContent-Length: +16\n", .length),
            ("Host: h\nContent-Length: -1\n", .length), ("Host: h\nContent-Length: 0x10\n", .length),
            ("Host: h\nContent-Length: 1 6\n", .length),
            ("Host: h\nContent-Length: 16, 16\n", .length), ("Host: h\nContent-Length: 16, 17\n", .length),
            ("Host: h\nContent-Length: 16\nContent-Length: 16\n", .length), ("Host: h\ncontent-length: 16\nCONTENT-LENGTH: 17\n", .length),
            ("Host: h\nContent-Length:\n", .length), ("Host: h\nContent-Length: many\n", .length),
            ("Host: h\nContent-Length: 1.0\n", .length),
            ("Host: h\nContent-Length: ١\n", .length), ("Host: h\nContent-Length: 3\nTransfer-Encoding: chunked\n", .transferEncoding),
            ("Host: h\nTransfer-Encoding: chunked\nContent-Length: 3\n", .transferEncoding), ("Host: h\nUpgrade: h2c\n", .otherUpgrade),
            ("Host: h\nUpgrade: websocket, h2c\n", .otherUpgrade), ("Host: h\nX: a\u{0}\n", .lineEnd), ("Host: h\nX: a\u{7F}\n", .lineEnd),
            ("Host: h\nX: a\u{1B}b\n", .lineEnd), ("Host: h\nContent-Length: 16\u{0}\n", .lineEnd),
        ] as [(String, RequestFault)])
    func faultyFieldsAreRefused(fields: String, fault: RequestFault) {
        #expect(throws: fault) { try head("POST / HTTP/1.1\n\(fields)\n") }
    }

    @Test func chunksNeedVersion11() {
        #expect(throws: RequestFault.transferEncoding) { try head("POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n") }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\r\nX: a\rHost: h\r\n\r\n", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /\r HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
    func bareLineEndsAreRefused(text: String) {
        #expect(throws: RequestFault.lineEnd) { try RequestHead(Array(text.utf8)) }
    }

    // MARK: Upgrades

    private static let handshake = [
        ("Host", "h"), ("Connection", "keep-alive, Upgrade"), ("Upgrade", "WebSocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    /// - Parameter value: replaces that of the field; nil leaves it out.
    private static func upgrade(_ line: String = "GET / HTTP/1.1", _ name: String = "", _ value: String? = nil, more: String = "") -> String
    {
        let fields = handshake.map { ($0.0, $0.0 == name ? value : $0.1) }
        return line + "\n" + fields.compactMap { field, value in value.map { "\(field): \($0)\n" } }.joined() + more + "\n"
    }

    @Test func anUpgradeWithAllFieldsPasses() throws {
        #expect(try head(Self.upgrade()).upgrades)
        #expect(try head(Self.upgrade(more: "Content-Length: 0\n")).upgrades)
        #expect(try !head("GET / HTTP/1.1\nHost: h\nConnection: Upgrade\n\n").upgrades)
    }

    @Test(
        arguments: [
            (upgrade("GET / HTTP/1.1", "Host", nil), .host), (upgrade("GET / HTTP/1.1", "Connection", nil), .handshake),
            (upgrade("GET / HTTP/1.1", "Connection", "upgraded"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", nil), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", ""), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "AAAA"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZTE="), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q=="), .handshake),
            (upgrade(more: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"), .handshake), (upgrade("POST / HTTP/1.1"), .handshake),
            (upgrade("GET / HTTP/1.0"), .handshake), (upgrade(more: "Content-Length: 5\n"), .handshake),
            (upgrade(more: "Transfer-Encoding: chunked\n"), .handshake),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", nil), .webSocketVersion),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", "8"), .webSocketVersion),
            (upgrade("GET / HTTP/1.1", "Sec-WebSocket-Version", "13, 8"), .webSocketVersion),
            (upgrade(more: "Upgrade: websocket\n"), .otherUpgrade),
        ] as [(String, RequestFault)])
    func incompleteUpgradesAreRefused(text: String, fault: RequestFault) {
        #expect(throws: fault) { try head(text) }
    }
}

/// What of a connection's bytes libwebsockets gets to see.
struct RequestGateTests {
    private static func passed(_ bytes: [UInt8], piece: Int = .max) -> (output: [UInt8], gate: RequestGate) {
        var gate = RequestGate()
        var output: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var next = rest.prefix(piece)
            rest = rest.dropFirst(piece)
            while !next.isEmpty { gate.admit(&next, to: &output) }
        }
        return (output, gate)
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static let get = bytes("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    private static let post = bytes(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 30\r\n\r\nGET / HTTP/1.1\r\n\r\n\0\n\n\n\n\n\n\n\n\n\n\n")
    private static let bad = bytes("GET / HTTP/1.1\nHost: h\n\n")
    private static let upgrade = bytes(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")

    @Test(arguments: [Int.max, 1, 7])
    func validRequestsPassUnchanged(piece: Int) {
        let stream = Self.get + Self.post + Self.get + Self.post + Self.upgrade + [0x81, 0x00, 0x0A]
        #expect(Self.passed(stream, piece: piece).output == stream)
    }

    @Test(arguments: [Int.max, 1, 7])
    func theFirstFaultyRequestEndsTheStream(piece: Int) {
        let (output, gate) = Self.passed(Self.get + Self.post + Self.bad + Self.get, piece: piece)
        #expect(output == Self.get + Self.post + RequestGate.request(for: .lineEnd))
        #expect(gate.isOver)
    }

    @Test func aHeadPassesOnlyWhenItIsComplete() {
        var gate = RequestGate()
        var output: [UInt8] = []
        for byte in Self.get.dropLast() {
            var piece: ArraySlice = [byte]
            gate.admit(&piece, to: &output)
            #expect(piece.isEmpty)
        }
        #expect(output.isEmpty)
        #expect(gate.heldBytes == Self.get.count - 1)
        var last = Self.get.suffix(1)
        gate.admit(&last, to: &output)
        #expect(output == Self.get)
        #expect(gate.heldBytes == 0)
    }

    @Test(arguments: [get, post])
    func oneRequestPassesAtATime(request: [UInt8]) {
        var gate = RequestGate()
        var rest = (Self.get + request + Self.post + Self.get + Self.upgrade + [0x81, 0x00, 0x0A])[...]
        for expected in [Self.get, request, Self.post, Self.get, Self.upgrade + [0x81, 0x00, 0x0A]] {
            var output: [UInt8] = []
            gate.admit(&rest, to: &output)
            #expect(output == expected)
        }
        #expect(rest.isEmpty)
    }

    @Test func aBodyInTwoPiecesEndsWhereTheNextRequestBegins() {
        var gate = RequestGate()
        var output: [UInt8] = []
        var rest = Self.post.prefix(Self.post.count - 9)
        gate.admit(&rest, to: &output)
        #expect(rest.isEmpty)
        rest = (Self.post.suffix(9) + Self.get)[...]
        gate.admit(&rest, to: &output)
        #expect(output == Self.post)
        #expect(Array(rest) == Self.get)
    }

    @Test func blankLinesBeforeARequestAreDropped() {
        #expect(Self.passed([13, 10, 13, 10] + Self.get).output == Self.get)
    }

    @Test(arguments: [Int.max, 100])
    func aHeadThatIsTooLongEndsWithoutAResponse(piece: Int) {
        let long = Self.bytes("GET / HTTP/1.1\r\nHost: h\r\nX: ") + [UInt8](repeating: 97, count: RequestGate.headBytesMax)
        for stream in [long, long + Self.bytes("\r\n\r\n")] {
            let (output, gate) = Self.passed(stream, piece: piece)
            #expect(output.isEmpty)
            #expect(gate.isHeadTooLong && gate.heldBytes == 0)
        }
    }

    @Test func nothingPassesBehindAChunkedHead() {
        let head = Self.bytes("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(Self.passed(head + Self.get).output == head)
    }

    @Test(arguments: RequestFault.allCases)
    func theRequestForAFaultIsShortAndLeadsBackToIt(fault: RequestFault) throws {
        let request = RequestGate.request(for: fault)
        #expect(request.count <= RequestGate.refusalBytesMax)
        _ = try RequestHead(request)
        let path = String(decoding: request, as: UTF8.self).split(separator: " ")[1]
        #expect(RequestGate.refused(at: String(path)) == fault)
        #expect(RequestGate.refused(at: "/-/fault/other") == nil)
    }
}

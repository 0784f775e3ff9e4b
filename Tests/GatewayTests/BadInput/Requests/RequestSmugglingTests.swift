import Gateway
import TLSRecords
import Testing

/// Requests that two servers could read differently (RFC 9112 section 11.2), each behind a valid one on the same connection.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RequestSmugglingTests {
    private let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    /// The request that must not be answered.
    private static let smuggled = "GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Answers until the connection ends.
    private func answers(to text: String, on gateway: TestGateway, byByte: Bool = false) throws -> [HTTPAnswer] {
        let connection = try HTTPConnection(gateway)
        let bytes = Array(text.utf8)
        for piece in byByte ? bytes.map({ [$0] }) : [bytes] { try? connection.socket.write(piece) }
        var answers: [HTTPAnswer] = []
        while let answer = try connection.next() { answers.append(answer) }
        return answers
    }

    static let ambiguous: [(String, Int, String)] = [
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: +16\r\n\r\n", 400, "bad_request"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: 16\0\r\n\r\n", 400, "bad_request"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: 16, 17\r\n\r\n", 400, "bad_request"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n", 400, "bad_request"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, "length_required"),
        ("GET /readyz HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, "length_required"),
        ("POST /readyz HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"),
        ("GET /readyz HTTP/1.1\r\nHost: h\r\nX: a\r\n Content-Length: 44\r\n\r\n", 400, "bad_request"),
        ("GET /readyz HTTP/1.1\nHost: h\n\n", 400, "bad_request"), ("GET /readyz HTTP/1.1\r\nHost: h\n\r\n", 400, "bad_request"),
        ("GET /readyz HTTP/1.1\r\nX: a\rContent-Length: 44\r\nHost: h\r\n\r\n", 400, "bad_request"),
        ("get /readyz HTTP/1.1\r\nHost: h\r\n\r\n", 400, "bad_request"),
        ("BREW /readyz HTTP/1.1\r\nHost: h\r\n\r\n", 501, "unknown_method"),
        ("GET /readyz\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "bad_request"),
        ("GET /readyz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "bad_request"),
        ("GET /readyz HTTP/1.1\r\n\r\n", 400, "bad_request"), ("GET /readyz HTTP/3.0\r\nHost: h\r\n\r\n", 400, "bad_request"),
        ("GET http://h/readyz HTTP/1.1\r\nHost: h\r\n\r\n", 400, "bad_request"),
        ("GET /v1/sessions/%00 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_path"),
        ("GET /v1/sessions/%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_path"),
        ("GET /readyz?a=%00 HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_path"),
        ("GET /readyz%0d%0aX:%20y HTTP/1.1\r\nHost: h\r\n\r\n", 400, "invalid_path"),
    ]

    @Test(arguments: ambiguous)
    func anAmbiguousRequestIsRefusedAndEndsTheConnection(request: (String, Int, String)) throws {
        let before = try gateway.value(.httpRefused(request.2))
        let first = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
        let answers = try answers(to: first + request.0 + Self.smuggled, on: gateway)
        #expect(answers.map(\.status) == [200, request.1])
        #expect(answers.last?.code == request.2)
        #expect(answers.last?.fields["connection"] == "close")
        #expect(try gateway.value(.httpRefused(request.2)) == before + 1)
    }

    @Test func aRequestThatArrivesByteByByteIsRefusedAndItsAnswerIsNotLost() throws {
        for request in [Self.ambiguous[0], Self.ambiguous[11]] {
            let answers = try answers(to: "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n" + request.0 + Self.smuggled, on: gateway, byByte: true)
            #expect(answers.map(\.status) == [200, request.1])
        }
    }

    @Test(arguments: [TLSFastPath.Mode.auto, .off])
    func theFirstRequestIsCheckedWhateverProcessesRecords(mode: TLSFastPath.Mode) throws {
        let gateway = try TestGateway { $0.fastPath = TLSFastPath(mode) }
        for request in Self.ambiguous {
            #expect(try answers(to: request.0 + Self.smuggled, on: gateway).map(\.status) == [request.1], "\(request.0)")
        }
    }

    @Test(arguments: [RawSocket.Versions.recent, .upTo12])
    func theBodyOfAGetIsNotARequest(versions: RawSocket.Versions) throws {
        let socket = try RawSocket.secure(port: gateway.port, offering: versions)
        let length = Self.smuggled.utf8.count
        let request = "GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n" + Self.smuggled
        try socket.write(Array(request.utf8))
        var inbox: [UInt8] = []
        #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.text == "ok\n")
        try socket.write(HTTPAsk(path: "/nowhere").bytes)
        #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == 404)
    }

    @Test func aHundredPipelinedRequestsGetAHundredAnswers() throws {
        let connection = try HTTPConnection(gateway)
        try connection.socket.write((0..<100).flatMap { _ in HTTPAsk(path: "/healthz").bytes })
        for _ in 0..<100 { #expect(try connection.next()?.text == "ok\n") }
    }

    @Test func aHeadOfAlmostSixteenKibibytesInTwoRecordsPasses() throws {
        let connection = try HTTPConnection(gateway)
        let bytes = HTTPAsk(path: "/healthz", fields: [("X-Long", String(repeating: "x", count: 15_000))]).bytes
        let body = HTTPAsk(path: "/healthz").bytes
        try connection.socket.write(Array(bytes.prefix(10_000)))
        // The rest of the head and other requests fill a whole record.
        try connection.socket.write(Array((bytes.dropFirst(10_000) + (0..<200).flatMap { _ in body }).prefix(16_384)))
        for _ in 0..<100 { #expect(try connection.next()?.text == "ok\n") }
    }
}

/// Upgrades without what RFC 6455 section 4.2.1 requires.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct IncompleteUpgradeTests {
    private let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    static let cases: [(name: String, value: String?, status: Int, code: String)] = [
        ("Connection", nil, 400, "bad_upgrade"), ("Connection", "close", 400, "bad_upgrade"),
        ("Sec-WebSocket-Key", nil, 400, "bad_upgrade"),
        ("Sec-WebSocket-Key", "c2hvcnQ=", 400, "bad_upgrade"), ("Sec-WebSocket-Key", "not base64, not base64!!", 400, "bad_upgrade"),
        ("Sec-WebSocket-Version", nil, 426, "websocket_version"), ("Sec-WebSocket-Version", "8", 426, "websocket_version"),
        ("Sec-WebSocket-Version", "14", 426, "websocket_version"), ("Upgrade", "h2c", 400, "upgrade_refused"),
        ("Upgrade", "irc/6.9", 400, "upgrade_refused"),
    ]

    @Test(arguments: cases)
    func areRefusedWithTheRightStatus(field: (name: String, value: String?, status: Int, code: String)) throws {
        var ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve"))
        ask.fields.removeAll { $0.name == field.name }
        if let value = field.value { ask.fields.append((field.name, value)) }
        let answer = try #require(try ask.answer(port: gateway.port))
        #expect(answer.status == field.status)
        #expect(answer.code == field.code)
        if field.status == 426 { #expect(answer.fields["sec-websocket-version"] == "13") }
    }

    @Test func withoutAHostAreRefused() throws {
        let connection = try HTTPConnection(gateway)
        let bytes = HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve")).bytes
        let text = String(decoding: bytes, as: UTF8.self).replacing("Host: 127.0.0.1\r\n", with: "")
        try connection.socket.write(Array(text.utf8))
        #expect(try connection.next()?.status == 400)
        #expect(try connection.isAtEnd())
    }
}

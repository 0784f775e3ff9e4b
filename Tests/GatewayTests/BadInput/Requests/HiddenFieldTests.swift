import Gateway
import Identity
import Sockets
import Testing

/// Fields behind one whose name begins a name that libwebsockets knows: its parser would overlook them.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(4)))
struct HiddenFieldTests {
    private let gateway: TestGateway
    private static let origin = "https://app.example"

    enum Entrance: CaseIterable { case tls, plain }

    init() throws {
        gateway = try TestGateway(routes: [.address]) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.0/8")])
            $0.edge.allowedOrigins = [Self.origin]
        }
    }

    private func connect(_ entrance: Entrance) throws -> HTTPConnection {
        switch entrance {
        case .tls: try HTTPConnection(gateway)
        case .plain: HTTPConnection(on: try RawSocket(port: gateway.gateway.plainPort ?? 0))
        }
    }

    /// The field behind, before, twice behind and far behind each beginning.
    private static func variants(of field: String) -> [[String]] {
        SmuggledRequests.beginnings.flatMap { name in
            [
                ["\(name): a", field, "Host: h"], ["Host: h", field, "\(name): a"], ["Host: h", "\(name):a", "\(name): b", field],
                ["\(name): a", "Host: h", field],
            ]
        }
    }

    private static func request(_ line: String, _ fields: [String], id: Int, body: String = "") -> [UInt8] {
        Array((([line] + fields + ["X-Request-ID: \(id)", "", ""]).joined(separator: "\r\n") + body).utf8)
    }

    /// Sends requests in pieces of several, and checks that each has its answer, and the connection no more than those.
    private func check(
        _ requests: [[UInt8]], of entrance: Entrance, _ isExpected: (HTTPAnswer) -> Bool, location: SourceLocation = #_sourceLocation
    ) throws {
        let connection = try connect(entrance)
        for start in stride(from: 0, to: requests.count, by: 40) {
            let batch = requests[start...].prefix(40)
            try connection.socket.write(batch.flatMap(\.self))
            for (id, request) in zip(start..., batch) {
                guard let answer = try connection.next(), answer.fields["x-request-id"] == "\(id)", isExpected(answer) else {
                    Issue.record("\(String(decoding: request, as: UTF8.self))", sourceLocation: location)
                    return
                }
            }
        }
        try connection.socket.write(Self.request("GET /nowhere HTTP/1.1", ["Host: h", "Connection: close"], id: 0))
        #expect(try connection.next()?.status == 404, sourceLocation: location)
        #expect(try connection.isAtEnd(), sourceLocation: location)
    }

    @Test(arguments: Entrance.allCases) func aLengthIsSeen(entrance: Entrance) throws {
        let hidden = "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n"
        let requests = Self.variants(of: "Content-Length: \(hidden.utf8.count)").enumerated().map { id, fields in
            Self.request("GET /healthz HTTP/1.1", fields, id: id, body: hidden)
        }
        try check(requests, of: entrance) { $0.status == 200 && $0.text == "ok\n" }
    }

    @Test(arguments: Entrance.allCases) func aTokenIsSeen(entrance: Entrance) throws {
        let token = TestToken.administering { $0.roomList = true }
        let requests = Self.variants(of: "Authorization: Bearer \(token)").enumerated().map { id, fields in
            Self.request("GET /v1/rooms HTTP/1.1", fields, id: id)
        }
        try check(requests, of: entrance) { $0.status == 200 }
    }

    @Test(arguments: Entrance.allCases) func anOriginIsSeen(entrance: Entrance) throws {
        let requests = Self.variants(of: "Origin: \(Self.origin)").enumerated().map { id, fields in
            Self.request("GET /healthz HTTP/1.1", fields, id: id)
        }
        try check(requests, of: entrance) { $0.status == 200 && $0.fields["access-control-allow-origin"] == Self.origin }
    }

    @Test(arguments: Entrance.allCases) func aBeginningIsTheLastField(entrance: Entrance) throws {
        let requests = SmuggledRequests.beginnings.enumerated().map { id, name in
            Array("GET /healthz HTTP/1.1\r\nHost: h\r\nX-Request-ID: \(id)\r\n\(name): a\r\n\r\n".utf8)
        }
        try check(requests, of: entrance) { $0.status == 200 }
    }

    /// Bodies in chunks are refused, and the connection ends.
    @Test(arguments: Entrance.allCases) func aCodingIsSeen(entrance: Entrance) throws {
        for name in SmuggledRequests.beginnings {
            let connection = try connect(entrance)
            let body = SmuggledRequests.chunked("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            let fields = ["Host: h", "\(name): a", "Transfer-Encoding: chunked"]
            try connection.socket.write(Self.request("POST /healthz HTTP/1.1", fields, id: 0, body: body))
            #expect(try connection.next()?.status == 411, "\(name)")
            #expect(try connection.isAtEnd(), "\(name)")
        }
    }

    /// On the plain port, whose peers are trusted proxies.
    @Test func theAddressOfAClientIsSeen() throws {
        let requests = Self.variants(of: "X-Forwarded-For: 198.51.100.7").enumerated().map { id, fields in
            Self.request("GET /v1/address HTTP/1.1", fields, id: id)
        }
        try check(requests, of: .plain) { $0.text == "198.51.100.7" }
    }

    @Test(arguments: Entrance.allCases) func nothingOfAnUpgradeIsHidden(entrance: Entrance) throws {
        let token = TestToken.joining("r", as: "ann")
        let upgrade = HTTPAsk.upgrade(token: token).fields + [("Origin", Self.origin)]
        // Connections, rooms and this test's time are limited, so each beginning hides another field.
        for (number, name) in SmuggledRequests.beginnings.enumerated() {
            let connection = try connect(entrance)
            var ask = HTTPAsk(path: "/v1/rtc", fields: upgrade)
            ask.fields.insert((name, "a"), at: number % (upgrade.count + 1))
            try connection.socket.write(ask.bytes)
            let answer = try #require(try connection.next())
            #expect(answer.status == 101 && answer.fields["sec-websocket-protocol"] == "patchbay.v1", "\(name)")
            ask.fields[ask.fields.firstIndex { $0.name == "Origin" }!].value = "https://other.example"
            let refused = try self.connect(entrance)
            try refused.socket.write(ask.bytes)
            #expect(try refused.next()?.code == "origin_not_allowed", "\(name)")
        }
    }
}

import Backend
import Gateway
import Sockets
import Testing
import Wire

/// Headers of the PROXY protocol, version 2, on the port for proxies.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ProxyProtocolTests {
    private let log = RecordedLog()
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway(operatorLog: log.operatorLog()) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.0/9")], usesProxyProtocol: true)
            $0.handshakeSecondsMax = 3
        }
    }

    private var port: Int { gateway.gateway.plainPort ?? 0 }
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// A client at 203.0.113.9, with a type-length-value field.
    private static let four =
        signature + [0x21, 0x11, 0, 17, 203, 0, 113, 9, 127, 0, 0, 1, 0x12, 0x34, 0x1E, 0xC8, 0x04, 0, 2, 0xAB, 0xCD]
    private static let six =
        signature + [0x21, 0x21, 0, 36, 0x20, 0x01, 0x0D, 0xB8, 0, 1, 0, 2] + [UInt8](repeating: 7, count: 8)
        + [UInt8](repeating: 0, count: 20)
    private static let local = signature + [0x20, 0x00, 0, 0]

    private func refusedAddress(after header: [UInt8], from source: String = Loopback.fresh(), forwardedFor: String? = nil) throws
        -> String?
    {
        var ask = HTTPAsk.upgrade(token: "a.b.c")
        if let forwardedFor { ask.fields.append(("X-Forwarded-For", forwardedFor)) }
        let answer = try ask.plainAnswer(port: port, from: source, after: header)
        return answer?.status == 401 ? log.lines("refused").last?["address"] : nil
    }

    private func refusals(_ reason: String) throws -> Double {
        try gateway.metrics().value("patchbay_proxy_headers_refused_total", ["reason": reason])
    }

    @Test func headerNamesTheClient() throws {
        #expect(try refusedAddress(after: Self.four) == "203.0.113.9")
        #expect(try refusedAddress(after: Self.six) == "2001:db8:1:2::")
    }

    @Test func healthCheckOfTheProxyComesFromTheProxy() throws {
        #expect(try refusedAddress(after: Self.local, from: "127.0.3.3") == "127.0.3.3")
    }

    @Test func clientBehindTheHeaderCannotForwardForOthers() throws {
        #expect(try refusedAddress(after: Self.four, forwardedFor: "198.51.100.1") == "203.0.113.9")
        #expect(try refusedAddress(after: Self.local, forwardedFor: "198.51.100.1") == "198.51.100.1")
    }

    @Test func participantJoinsAndHearsAlthoughTheHeaderArrivesByteByByte() throws {
        let socket = try RawSocket(port: port)
        for byte in Self.four { try socket.write([byte]) }
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "ann"))
        let ann = try Caller(on: RawWebSocket(on: socket, asking: ask), goingOnAfter: 0)
        let bob = try Caller(gateway, room: "r", identity: "bob")
        let track = try bob.publish()
        try bob.say(TestFrame.bytes(track.alias, 1))
        #expect(try ann.frame() == TestFrame.bytes(track.alias, 1))
    }

    @Test(arguments: [
        (Array("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n".utf8), "version_1"), (Array("GET /healthz HTTP/1.1\r\n\r\n".utf8), "malformed"),
        (signature + [0x21, 0x11, 0, 4, 1, 2, 3, 4], "malformed"), (signature + [0x21, 0x11, 0xFF, 0xFF], "malformed"),
    ])
    func connectionWithAnotherHeaderIsClosed(header: [UInt8], reason: String) throws {
        let socket = try RawSocket(port: port)
        try socket.write(header)
        #expect(try socket.read().isEmpty)
        #expect(try refusals(reason) == 1)
    }

    @Test func connectionThatEndsWithinItsHeaderIsCounted() throws {
        let socket = try RawSocket(port: port)
        try socket.write(Array(Self.four.dropLast()))
        socket.close()
        try Patience.until("the refusal is counted") { try refusals("truncated") == 1 }
    }

    @Test func slowHeaderIsGivenUp() throws {
        let socket = try RawSocket(port: port)
        try socket.write(Array(Self.four.prefix(5)))
        #expect(try socket.read().isEmpty)
        #expect(try refusals("slow") == 1)
    }

    @Test func strangerMayNotSendAHeader() throws {
        let socket = try RawSocket(port: port, from: "127.255.0.1")
        try? socket.write(Self.four)
        #expect(try socket.read().isEmpty)
        #expect(try refusals("untrusted") == 1)
    }

    @Test func gatewayStopsWhileAHeaderIsAwaited() async throws {
        let socket = try RawSocket(port: port)
        try socket.write(Array(Self.four.prefix(5)))
        // Accepted before the loop stops.
        #expect(try refusedAddress(after: Self.four) == "203.0.113.9")
        for _ in 1...2 { gateway.gateway.drain() }
        try await gateway.ended()
        #expect(try socket.read().isEmpty)
    }
}

import Backend
import Foundation
import Gateway
import Identity
import Sockets
import Testing
import Wire

/// The port for proxies that terminate TLS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct PlainPortTests {
    private let log = RecordedLog()
    private let gateway: TestGateway

    /// Proxies connect from 127.0.0.0/8 in these tests, except for one address.
    private static let stranger = "127.255.0.1"

    init() throws {
        gateway = try TestGateway(operatorLog: log.operatorLog()) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            $0.edge.proxies = ProxyTrust(networks: try! ["127.0.0.0/9", "192.0.2.0/24"].map { try IPNetwork($0) })
            $0.handshakeSecondsMax = 3
        }
    }

    private var port: Int { gateway.gateway.plainPort ?? 0 }

    private func join(_ identity: String) throws -> Caller {
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: identity))
        return try Caller(on: RawWebSocket(on: RawSocket(port: port), asking: ask), goingOnAfter: 0)
    }

    private func refused(_ forwardedFor: [String], from source: String = Loopback.fresh()) throws -> String? {
        var ask = HTTPAsk.upgrade(token: "a.b.c")
        for value in forwardedFor { ask.fields.append(("X-Forwarded-For", value)) }
        _ = try ask.plainAnswer(port: port, from: source)
        return log.lines("refused").last?["address"]
    }

    @Test func audioPassesBetweenPlainAndTLSConnections() throws {
        let ann = try join("ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        let (fromAnn, fromBob) = (try ann.publish(), try bob.publish())
        for number in 0..<20 {
            try ann.say(TestFrame.bytes(fromAnn.alias, number))
            try bob.say(TestFrame.bytes(fromBob.alias, number))
            #expect(try bob.frame() == TestFrame.bytes(fromAnn.alias, number))
            #expect(try ann.frame() == TestFrame.bytes(fromBob.alias, number))
        }
        // Longer than the time for a request: an established connection has no such limit.
        let end = ContinuousClock.now + .milliseconds(4_200)
        while ContinuousClock.now < end { for caller in [ann, bob] { try caller.takeAll(within: .milliseconds(50)) } }
        try ann.say(TestFrame.bytes(fromAnn.alias, 20))
        #expect(try bob.frame() == TestFrame.bytes(fromAnn.alias, 20))
        try ann.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try ann.closeCode() == 1000)
    }

    @Test func silentConnectionIsClosed() throws {
        let socket = try RawSocket(port: port)
        #expect(try socket.read().isEmpty)
        withExtendedLifetime(gateway) {}
    }

    @Test func httpAndItsRefusalsWorkOnOneConnection() throws {
        let socket = try RawSocket(port: port)
        var inbox: [UInt8] = []
        for (path, status) in [("/healthz", 200), ("/v1/rooms", 401), ("/nowhere", 404), ("/readyz", 200)] {
            try socket.write(HTTPAsk(path: path, fields: [("X-Forwarded-For", "203.0.113.5")]).bytes)
            #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == status)
        }
        #expect(log.lines("refused").last?["address"] == "203.0.113.5")
    }

    @Test func requestsWithBodiesArePipelinedAsOverTLS() throws {
        let socket = try RawSocket(port: port)
        let ask = HTTPAsk.json("POST", "/nowhere", "{}")
        try socket.write(ask.bytes + ask.bytes + HTTPAsk(path: "/healthz").bytes)
        var inbox: [UInt8] = []
        for status in [404, 404, 200] { #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == status) }
    }

    @Test func logSeesTheForwardedAddress() throws {
        #expect(try refused(["203.0.113.7"]) == "203.0.113.7")
        #expect(try refused(["127.0.0.1, 203.0.113.7, 192.0.2.9"]) == "203.0.113.7")
        #expect(try refused(["2001:db8:1:2:3::4"]) == "2001:db8:1:2::")
    }

    /// Some proxies append a header of their own instead of an entry.
    @Test func allHeadersCountInTheirOrder() throws {
        #expect(try refused(["203.0.113.1", "203.0.113.2"]) == "203.0.113.2")
        #expect(try refused([String](repeating: "198.51.100.1", count: 20) + ["203.0.113.3"]) == "203.0.113.3")
    }

    @Test func malformedHeaderIsCountedAndTheProxyIsTheClient() throws {
        #expect(try refused(["unknown"], from: "127.0.7.7") == "127.0.7.7")
        #expect(try gateway.metrics().value("patchbay_forwarded_for_malformed_total") == 1)
    }

    @Test func failuresAreLimitedByTheForwardedAddress() throws {
        func status(_ address: String) throws -> Int? {
            var ask = HTTPAsk.upgrade(token: "a.b.c")
            ask.fields.append(("X-Forwarded-For", address))
            return try ask.plainAnswer(port: port)?.status
        }
        for _ in 0..<20 { #expect(try status("203.0.113.20") == 401) }
        #expect(try status("203.0.113.20") == 429)
        #expect(try status("203.0.113.21") == 401)
    }

    @Test func peerThatIsNoProxyIsRefused() throws {
        let join = try HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve")).plainAnswer(port: port, from: Self.stranger)
        #expect(join?.status == 403 && join?.code == "untrusted_proxy")
        let list = try HTTPAsk(path: "/healthz").plainAnswer(port: port, from: Self.stranger)
        #expect(list?.status == 403 && list?.code == "untrusted_proxy")
        #expect(try refused(["203.0.113.7"], from: Self.stranger) == Self.stranger)
        #expect(try gateway.value(.joinRefused("untrusted_proxy")) == 2)
    }

    @Test func hostHeaderDoesNotSelectTheOtherPort() throws {
        for host in ["patchbay", "patchbay-plain", "voice.example:443"] {
            let socket = try RawSocket(port: port)
            try socket.write(Array("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
            var inbox: [UInt8] = []
            #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == 200, "\(host)")
        }
    }

    @Test func browserWithATokenInTheSubprotocolJoins() throws {
        let token = TestToken.joining("r", as: "ann") { $0.metadata = String(repeating: "m", count: 400) }
        let ask = HTTPAsk.upgrade(subprotocol: "patchbay.v1, patchbay.bearer.\(token)")
        let socket = try RawWebSocket(on: RawSocket(port: port), asking: ask)
        #expect(socket.answer.fields["sec-websocket-protocol"] == "patchbay.v1")
    }
}

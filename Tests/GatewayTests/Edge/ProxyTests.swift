import Backend
import Gateway
import Sockets
import Testing
import Wire

/// A gateway behind each proxy that `docs/PROXIES.md` describes, with the configuration that it has there.
@Suite(
    .onOwnThread, .serialized, .timeLimit(.minutes(2)),
    .enabled(if: !ReverseProxy.Kind.installed.isEmpty, "no proxy is installed; scripts/setup installs them"))
struct ProxyTests {
    private let log = RecordedLog()
    private let gateway: TestGateway

    init() throws {
        gateway = try TestGateway(routes: [.address], operatorLog: log.operatorLog()) {
            $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
            // The clients of these tests have other loopback addresses.
            $0.edge.proxies = ProxyTrust(networks: try! [IPNetwork("127.0.0.1")])
        }
    }

    private func proxy(_ kind: ReverseProxy.Kind) throws -> ReverseProxy { try ReverseProxy(kind, before: gateway.gateway.plainPort ?? 0) }

    private func join(_ identity: String, through port: Int, from source: String = Loopback.fresh()) throws -> Caller {
        let ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: identity))
        return try Caller(on: RawWebSocket(on: .secure(port: port, from: source), asking: ask), goingOnAfter: 0)
    }

    @Test(arguments: ReverseProxy.Kind.installed) func audioPassesBothWays(kind: ReverseProxy.Kind) throws {
        let proxy = try proxy(kind)
        let ann = try join("ann", through: proxy.port)
        let bob = try join("bob", through: gateway.port)
        let (fromAnn, fromBob) = (try ann.publish(), try bob.publish())
        for number in 0..<50 {
            try ann.say(TestFrame.bytes(fromAnn.alias, number))
            try bob.say(TestFrame.bytes(fromBob.alias, number))
            #expect(try bob.frame() == TestFrame.bytes(fromAnn.alias, number))
            #expect(try ann.frame() == TestFrame.bytes(fromBob.alias, number))
        }
        try ann.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try ann.closeCode() == 1000, "the close code arrives through the proxy")
    }

    @Test(arguments: ReverseProxy.Kind.installed) func limitsAndLogSeeTheClient(kind: ReverseProxy.Kind) throws {
        let proxy = try proxy(kind)
        let (guesser, other) = (Loopback.fresh(), Loopback.fresh())
        func guess(from source: String) throws -> Int? {
            var ask = HTTPAsk.upgrade(token: "a.b.c")
            // The proxy appends the real address to what a client invents, or replaces it.
            ask.fields.append(("X-Forwarded-For", "203.0.113.\(Int.random(in: 0...255))"))
            return try ask.answer(port: proxy.port, from: source)?.status
        }
        for _ in 0..<20 { #expect(try guess(from: guesser) == 401) }
        #expect(try guess(from: guesser) == 429)
        #expect(try guess(from: other) == 401)
        #expect(Set(log.lines("refused").compactMap { $0["address"] }) == [guesser, other])
        let ann = try join("ann", through: proxy.port, from: guesser)
        withExtendedLifetime(ann) {}
    }

    @Test(arguments: ReverseProxy.Kind.installed) func httpRequestsPassOnOneConnection(kind: ReverseProxy.Kind) throws {
        let proxy = try proxy(kind)
        let socket = try RawSocket.secure(port: proxy.port)
        var inbox: [UInt8] = []
        for (path, status) in [("/healthz", 200), ("/v1/rooms", 401), ("/readyz", 200), ("/nowhere", 404)] {
            try socket.write(HTTPAsk(path: path).bytes)
            #expect(try HTTPAnswer.read(from: socket, inbox: &inbox)?.status == status, "\(path)")
        }
    }

    /// libwebsockets overlooks the field behind a name that begins one of those that it knows, and a proxy appends its field behind the client's.
    @Test(arguments: ReverseProxy.Kind.installed) func noFieldHidesTheAddressThatAProxyAppends(kind: ReverseProxy.Kind) throws {
        let proxy = try proxy(kind)
        for name in ["X", "X-", "X-Forwarded", "X-Forwarded-Fo", "A", "If", "Content", "Sec-WebSocket"] {
            let source = Loopback.fresh()
            #expect(
                try HTTPAsk(path: "/v1/address", fields: [(name, "a")]).answer(port: proxy.port, from: source)?.text == source, "\(name)")
        }
    }

    /// What the document says that proxies pass on, or refuse themselves.
    @Test(arguments: ReverseProxy.Kind.installed) func noProxyMergesWhatTheGatewayTellsApart(kind: ReverseProxy.Kind) throws {
        let proxy = try proxy(kind)
        for name in ["Authorization", "Origin", "Idempotency-Key", "X-Request-ID"] {
            let ask = HTTPAsk(path: "/healthz", fields: [(name, "a"), (name, "b")])
            #expect(try ask.answer(port: proxy.port)?.status == 400, "\(name)")
        }
        for path in ["/nowhere/../healthz", "/%2e%2e/healthz", "/nowhere/%2E./healthz", "//healthz", "/.//healthz"] {
            let status = try HTTPAsk(path: path).answer(port: proxy.port)?.status
            #expect(status == 400 || status == 404, "\(path)")
        }
        let source = Loopback.fresh()
        let ask = HTTPAsk(path: "/v1/address", fields: [("X_Forwarded_For", "203.0.113.1")])
        #expect(try ask.answer(port: proxy.port, from: source)?.text == source)
    }
}

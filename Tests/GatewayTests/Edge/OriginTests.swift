import Backend
import Gateway
import Testing

/// The check of a web page's origin before an upgrade (RFC 6455 section 10.2).
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OriginTests {
    private let log = RecordedLog()

    private func gateway(_ origins: [String], admitsAny: Bool = false, servesPages: Bool = true) throws -> TestGateway {
        try TestGateway(operatorLog: log.operatorLog()) {
            $0.edge.allowedOrigins = origins
            $0.edge.admitsAnyOrigin = admitsAny
            $0.edge.servesPages = servesPages
        }
    }

    private func status(_ origin: String?, _ gateway: TestGateway, path: String = "/v1/rtc") throws -> Int? {
        var ask = HTTPAsk.upgrade(token: TestToken.joining("r", as: "ann"), path: path)
        if let origin { ask.fields.append(("Origin", origin)) }
        return try ask.answer(port: gateway.port)?.status
    }

    @Test func onlyListedOriginsMayConnect() throws {
        let gateway = try gateway(["https://app.example"])
        #expect(try status("https://app.example", gateway) == 101)
        for other in ["https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example.evil", "null"] {
            #expect(try status(other, gateway) == 403, "\(other)")
        }
    }

    @Test func clientsThatAreNoBrowsersNeedNoOrigin() throws {
        let gateway = try gateway([])
        #expect(try status(nil, gateway) == 101)
        #expect(try status("https://app.example", gateway) == 403)
    }

    @Test(arguments: [(["*"], false), ([], true)]) func anyOriginMayConnectIfConfigured(origins: [String], admitsAny: Bool) throws {
        #expect(try status("https://anywhere.example", gateway(origins, admitsAny: admitsAny)) == 101)
    }

    /// The tests' requests reach the gateway as 127.0.0.1.
    @Test func ownPagesMayConnect() throws {
        let gateway = try gateway(["https://app.example"])
        #expect(try status("https://127.0.0.1", gateway) == 101)
        for other in ["http://127.0.0.1", "https://127.0.0.1:8443", "https://127.0.0.1.example"] {
            #expect(try status(other, gateway) == 403, "\(other)")
        }
        #expect(try status("https://127.0.0.1", self.gateway([], servesPages: false)) == 403)
    }

    @Test func refusalSaysWhyAndIsCountedAndLogged() throws {
        let gateway = try gateway(["https://app.example"])
        var ask = HTTPAsk.upgrade(token: "not even a token")
        ask.fields.append(("Origin", "https://evil.example"))
        let answer = try #require(try ask.answer(port: gateway.port))
        #expect(answer.status == 403 && answer.code == "origin_not_allowed" && answer.text.contains("allowed_origins"))
        #expect(answer.fields["x-patchbay-error"] == "origin_not_allowed")
        #expect(try gateway.value(.joinRefused("origin_not_allowed")) == 1)
        #expect(log.lines("refused").map { $0["reason"] } == ["origin_not_allowed"])
    }

    @Test func developmentDoesNotOpenTheHTTPAPI() throws {
        let gateway = try gateway([], admitsAny: true)
        let answer = try HTTPAsk(path: "/healthz", fields: [("Origin", "https://anywhere.example")]).answer(port: gateway.port)
        #expect(answer?.status == 200 && answer?.fields["access-control-allow-origin"] == nil)
    }

    @Test(arguments: [
        ("http://localhost:5173", true), ("https://127.0.0.1", true), ("http://[::1]:3000", true), ("http://localhost.evil.example", false),
        ("http://localhost:5173.evil.example", false), ("null", false), ("ftp://localhost", false), ("http://192.168.0.2:5173", false),
    ]) func developmentOpensTheHTTPAPIToPagesOfThisMachine(origin: String, isAdmitted: Bool) throws {
        for (admitsAny, expected) in [(true, isAdmitted ? origin : nil), (false, nil)] {
            let gateway = try gateway([], admitsAny: admitsAny)
            let answer = try HTTPAsk(path: "/web/patchbay.js", fields: [("Origin", origin)]).answer(port: gateway.port)
            #expect(answer?.status == 200 && answer?.fields["access-control-allow-origin"] == expected, "\(admitsAny)")
        }
    }
}

import Gateway
import HTTPServer
import Identity
import Sockets
import Testing
import Wire

@testable import Backend

/// `GET /v1/dev/session` and `/v1/dev/administrator`: tokens for the gateway's own pages, and for nobody else.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct DevelopmentSessionTests {
    private let dispatch: DispatchInbox
    private let gateway: TestGateway

    init() throws {
        let dispatch = DispatchInbox()
        let assistants = AssistantDirectory(configured: [AssistantDefinition(id: "shop", name: "Robin")])
        gateway = try TestGateway(
            dispatch: dispatch,
            serving: { _, keys in DevelopmentRoutes.routes(keys: keys, assistants: assistants, dispatch: dispatch.registry) },
            {
                $0.edge.plain = EdgeSettings.Place(host: "127.0.0.1", port: 0)
                $0.edge.admitsAnyOrigin = true
            })
        self.dispatch = dispatch
    }

    private static let ownPage = (name: "Sec-Fetch-Site", value: "same-origin")

    private func ask(
        _ fields: [(name: String, value: String)] = [ownPage], _ route: String = "session", query: String = "", host: String = "127.0.0.1"
    ) throws -> HTTPAnswer {
        let ask = HTTPAsk(path: "/v1/dev/\(route)" + query, fields: fields, host: host)
        return try #require(try ask.answer(port: gateway.port))
    }

    private func claims(_ answer: HTTPAnswer) throws -> AccessToken {
        let token = try #require(answer.json?["token"] as? String)
        return try TokenVerifier().verify(token, keys: TestToken.keys, now: TestToken.now)
    }

    @Test func ownPageGetsATokenForANewRoom() throws {
        let (first, second) = (try ask(host: "localhost:7880"), try ask())
        #expect(first.status == 200 && second.status == 200, "\(first.text)")
        #expect(first.json?["url"] as? String == "wss://localhost:7880" && second.json?["url"] as? String == "wss://127.0.0.1")
        #expect(first.json?["room"] as? String != second.json?["room"] as? String)
        #expect(first.json?["identity"] as? String != second.json?["identity"] as? String)
        #expect(first.json?["assistant"] == nil)
        #expect(first.fields["cache-control"] == "no-store" && first.fields["access-control-allow-origin"] == nil)
        let claims = try claims(first)
        #expect(claims.identity == first.json?["identity"] as? String && claims.video?.room == first.json?["room"] as? String)
        #expect(claims.expires - TestToken.now <= 600 && claims.video?.roomAdmin == false && claims.roomSettings == nil)
        let token = try #require(first.json?["token"] as? String)
        #expect(try gateway.webSocket(.upgrade(token: token)).answer.status == 101)
    }

    @Test func voiceAndLanguageAreInTheToken() throws {
        let answer = try ask(query: "?voice=nova&language=de-AT")
        #expect(try claims(answer).attributes == ["patchbay.voice": "nova", "patchbay.language": "de-AT"], "\(answer.text)")
        #expect(try claims(ask()).attributes.isEmpty)
    }

    @Test(arguments: ["voice=alto", "voice=", "voice=NOVA", "language=d", "language=German%21", "language=%3Cb%3E", "language="])
    func otherVoicesAndLanguagesAreRefused(query: String) throws {
        let answer = try ask(query: "?" + query)
        #expect(answer.status == 400 && answer.json?["token"] == nil, "\(answer.text)")
    }

    // MARK: Administration

    @Test(arguments: ["", "?room=lobby", "?room=a%20b"]) func dashboardGetsATokenForTheListAndOneRoom(query: String) throws {
        let answer = try ask([Self.ownPage], "administrator", query: query)
        #expect(answer.status == 200 && answer.json?["expires_in"] as? Int == 600, "\(answer.text)")
        #expect(answer.fields["cache-control"] == "no-store")
        let video = try #require(try claims(answer).video)
        let room = query.isEmpty ? "" : query == "?room=lobby" ? "lobby" : "a b"
        #expect(video.roomList && video.roomAdmin == !query.isEmpty && video.room == room)
        #expect(!video.roomJoin && video.roomCreate)
    }

    @Test func administratorTokenWorks() throws {
        let ann = try Caller(gateway, room: "lobby", identity: "ann")
        let token = try #require(try ask([Self.ownPage], "administrator", query: "?room=lobby").json?["token"] as? String)
        for (path, status) in [
            ("/v1/rooms", 200), ("/v1/operations/history", 200), ("/v1/rooms/lobby", 200), ("/v1/rooms/lobby/events", 200),
            ("/v1/rooms/other", 403),
        ] {
            let ask = HTTPAsk(path: path, fields: [("Authorization", "Bearer " + token)])
            #expect(try ask.answer(port: gateway.port)?.status == status, "\(path)")
        }
        withExtendedLifetime(ann) {}
    }

    @Test func administratorTokensAreForOwnPagesOnThisMachine() throws {
        for fields in [[("Sec-Fetch-Site", "cross-site")], [], [("Origin", "https://evil.example")]] {
            let answer = try ask(fields.map { (name: $0.0, value: $0.1) }, "administrator")
            #expect(answer.status == 403 && answer.json?["token"] == nil)
        }
        #expect(try ask([Self.ownPage], "administrator", host: "evil.example").code == "loopback_only")
        let gateway = try TestGateway()
        let answer = try HTTPAsk(path: "/v1/dev/administrator", fields: [Self.ownPage]).answer(port: gateway.port)
        #expect(answer?.status == 404 && answer?.code == "not_found")
    }

    // MARK: Who may ask

    @Test(arguments: [
        ([("Sec-Fetch-Site", "same-origin")], "127.0.0.1"), ([("Sec-Fetch-Site", "same-origin")], "[::1]:7880"),
        ([("Sec-Fetch-Site", "same-origin")], "LOCALHOST"), ([("Origin", "https://127.0.0.1:7880")], "127.0.0.1:7880"),
        ([("Sec-Fetch-Site", "same-origin"), ("Origin", "https://localhost")], "localhost"),
    ]) func ownPagesMayAsk(fields: [(String, String)], host: String) throws {
        #expect(try ask(fields.map { (name: $0.0, value: $0.1) }, host: host).status == 200)
    }

    @Test(arguments: [
        [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")], [],
        [("Origin", "https://evil.example")], [("Origin", "null")], [("Origin", "https://127.0.0.1:8443")],
        [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://evil.example")],
        [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://127.0.0.1")],
    ]) func othersAreRefused(fields: [(String, String)]) throws {
        let answer = try ask(fields.map { (name: $0.0, value: $0.1) })
        #expect(answer.status == 403 && answer.code == "origin_not_allowed" && answer.json?["token"] == nil)
        // Pages of this machine may read the refusal.
        let origin = fields.first { $0.0 == "Origin" }?.1
        let isLoopback = origin?.hasPrefix("https://127.0.0.1") == true
        #expect(answer.fields["access-control-allow-origin"] == (isLoopback ? origin : nil))
    }

    /// A page of a foreign name that resolves to a loopback address (DNS rebinding).
    @Test(arguments: ["evil.example", "127.0.0.1.evil.example:7880", "192.0.2.1", "localhost.evil.example", "0.0.0.0"])
    func foreignNamesAreRefused(host: String) throws {
        let answer = try ask([Self.ownPage, ("Origin", "https://" + host)], host: host)
        #expect(answer.status == 403 && answer.code == "loopback_only")
    }

    @Test func clientsBehindAProxyAreRefused() throws {
        let ask = HTTPAsk(path: "/v1/dev/session", fields: [Self.ownPage, ("X-Forwarded-For", "203.0.113.7")])
        let port = try #require(gateway.gateway.plainPort)
        let answer = try ask.plainAnswer(port: port)
        #expect(answer?.status == 403 && answer?.code == "loopback_only")
    }

    @Test func gatewayWithoutDevelopmentModeHasNoSuchRoute() throws {
        let gateway = try TestGateway()
        let answer = try HTTPAsk(path: "/v1/dev/session", fields: [Self.ownPage]).answer(port: gateway.port)
        #expect(answer?.status == 404 && answer?.code == "not_found")
    }

    // MARK: Assistants

    private func assistant(_ query: String = "") throws -> String? {
        let answer = try ask(query: query)
        #expect(answer.status == 200)
        let agents = try claims(answer).roomSettings?.agents?.map(\.agentName)
        let told = answer.json?["assistant"] as? String
        #expect(agents == told.map { [$0] })
        return told
    }

    @Test func connectedAssistantIsDispatched() throws {
        #expect(try assistant() == nil)
        dispatch.registry.noteWorker(of: "zoo", 1)
        #expect(try assistant() == "zoo")
        dispatch.registry.noteWorker(of: "default", 1)
        #expect(try assistant() == "default")
        dispatch.registry.noteWorker(of: "default", -1)
        dispatch.registry.noteWorker(of: "zoo", -1)
        #expect(try assistant() == nil)
    }

    @Test func requestedAssistantIsDispatched() throws {
        dispatch.registry.noteWorker(of: "zoo", 1)
        for id in ["zoo", "shop", "default"] { #expect(try assistant("?assistant=" + id) == id) }
        let unknown = try ask(query: "?assistant=nobody")
        #expect(unknown.status == 404 && unknown.code == "assistant_not_found")
    }

    @Test func callsWithoutLoginChooseFromAllAssistants() throws {
        dispatch.registry.noteWorker(of: "zoo", 1)
        let answer = try ask([Self.ownPage], "assistants")
        let list = try #require(answer.json?["assistants"] as? [[String: Any]])
        #expect(list.map { $0["id"] as? String } == ["default", "shop", "zoo"])
        #expect(list.map { $0["name"] as? String } == [AssistantDefinition.builtIn.name, "Robin", "zoo"])
        #expect(list.map { $0["connected"] as? Bool } == [false, false, true])
        #expect(!answer.text.contains("instructions"))
        let foreign = try ask([("Origin", "https://evil.example")], "assistants")
        #expect(foreign.status == 403 && foreign.json?["assistants"] == nil)
    }
}

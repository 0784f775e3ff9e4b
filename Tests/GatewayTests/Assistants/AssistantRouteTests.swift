import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import Store
import Testing
import Wire

@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct AssistantRouteTests {
    private static let shop = AssistantDefinition(
        id: "shop", name: "Shop", instructions: "A secret instruction.", greetings: ["Hello {name}"], voice: "nova", language: "de",
        providers: AssistantProviders(responder: ProviderSettings(baseUrl: "https://llm.example", model: "m")),
        tools: [AssistantTool(name: "find", url: "https://tools.example/secret-path")], quickCommands: ["What is new?"],
        onboarding: ["Welcome."], widget: WidgetSettings(startText: "Talk", theme: "dark"))

    private static let administrator = TestToken.administering { $0.roomCreate = true }

    private func ask(
        _ gateway: TestGateway, _ method: String, _ path: String, _ body: String? = nil, token: String? = nil,
        origin: String? = nil
    ) throws -> HTTPAnswer {
        var fields = token.map { [("Authorization", "Bearer " + $0)] } ?? []
        if let origin { fields.append(("Origin", origin)) }
        let ask =
            body.map { HTTPAsk.json(method, path, $0, with: fields) }
            ?? HTTPAsk(method: method, path: path, fields: fields.map { (name: $0.0, value: $0.1) })
        let answer = try #require(try ask.answer(port: gateway.port))
        try Contract.hold(answer, to: ask, gateway.gateway.routes)
        return answer
    }

    private func text(_ definition: AssistantDefinition) throws -> String {
        String(decoding: try JSON.encode(definition, names: .snakeCase), as: UTF8.self)
    }

    @Test func aReplacedConfigurationIsServedAtOnce() throws {
        let assistants = AssistantDirectory(configured: [Self.shop, AssistantDefinition(id: "default", name: "Own")])
        let gateway = try TestGateway(serving: { AssistantRoutes.routes(assistants, keys: $1) })
        #expect(try ask(gateway, "GET", "/v1/assistants/default").json?["name"] as? String == "Own")
        assistants.configure([AssistantDefinition(id: "bank", name: "Bank")])
        #expect(try ask(gateway, "GET", "/v1/assistants/bank").json?["name"] as? String == "Bank")
        #expect(try ask(gateway, "GET", "/v1/assistants/shop").status == 404)
        #expect(try ask(gateway, "GET", "/v1/assistants/default").json?["name"] as? String == AssistantDefinition.builtIn.name)
    }

    @Test func anyoneMaySeeThePublicPartOnly() throws {
        let gateway = try TestGateway(
            serving: { AssistantRoutes.routes(AssistantDirectory(configured: [Self.shop]), keys: $1) },
            { $0.edge.allowedOrigins = ["https://app.example"] })
        let answer = try ask(gateway, "GET", "/v1/assistants/shop", origin: "https://app.example")
        #expect(answer.status == 200)
        #expect(answer.fields["access-control-allow-origin"] == "https://app.example")
        let json = try #require(answer.json)
        #expect(Set(json.keys) == ["id", "name", "voice", "language", "quick_commands", "onboarding", "widget"])
        #expect(json["name"] as? String == "Shop" && json["quick_commands"] as? [String] == ["What is new?"])
        #expect(json["widget"] as? [String: String] == ["start_text": "Talk", "theme": "dark"])
        for secret in ["secret", "tools", "llm.example", "Hello {name}"] { #expect(!answer.text.contains(secret)) }
        #expect(try ask(gateway, "GET", "/v1/assistants/nobody").code == "assistant_not_found")
    }

    @Test func anyoneMayListTheVoices() throws {
        let gateway = try TestGateway(serving: { AssistantRoutes.routes(AssistantDirectory(), keys: $1) })
        let answer = try ask(gateway, "GET", "/v1/voices")
        let voices = try #require(answer.json?["voices"] as? [[String: String]])
        #expect(voices.compactMap { $0["id"] } == AssistantDefinition.voices && voices[0] == ["id": "alloy", "name": "Alloy"])
    }

    @Test func theBuiltInAssistantExistsUntilTheConfigurationReplacesIt() throws {
        let plain = AssistantDirectory()
        #expect(plain.definition("default") == .builtIn && AssistantDefinition.builtIn.fault == nil)
        #expect(Set(AssistantDefinition.builtIn.greetings).count == 20)
        let configured = AssistantDirectory(configured: [AssistantDefinition(id: "default", name: "Other"), Self.shop])
        #expect(configured.definition("default")?.name == "Other")
        #expect(configured.all.map(\.definition.id) == ["default", "shop"])
        #expect(configured.all.map(\.source) == [.configuration, .configuration] && plain.all.map(\.source) == [.builtIn])
    }

    @Test func onlyAdministratorsListDefinitions() throws {
        let gateway = try TestGateway(serving: { AssistantRoutes.routes(AssistantDirectory(configured: [Self.shop]), keys: $1) })
        let participant = TestToken.joining("r", as: "ann") { $0.video?.roomCreate = true }
        #expect(try ask(gateway, "GET", "/v1/assistants").status == 401)
        #expect(try ask(gateway, "GET", "/v1/assistants", token: participant).code == "missing_grant")
        #expect(try ask(gateway, "GET", "/v1/assistants", token: TestToken.assistant("shop")).code == "missing_grant")
        let answer = try ask(gateway, "GET", "/v1/assistants", token: Self.administrator)
        #expect(answer.status == 200 && answer.text.contains("secret-path"))
        // Without a store there is nothing to change.
        #expect(try ask(gateway, "PUT", "/v1/assistants/shop", text(Self.shop), token: Self.administrator).status == 405)
    }

    @Test func aStoredDefinitionReplacesTheConfigurationsUntilItIsDeleted() async throws {
        let backend = try TestBackend(assistants: [Self.shop])
        var changed = Self.shop
        changed.name = "Changed"
        let gateway = backend.gateway
        #expect(try ask(gateway, "PUT", "/v1/assistants/shop", text(changed)).status == 401)
        let put = try ask(gateway, "PUT", "/v1/assistants/shop", text(changed), token: Self.administrator)
        #expect(put.status == 200, "\(put.text)")
        #expect(try ask(gateway, "GET", "/v1/assistants/shop").json?["name"] as? String == "Changed")

        let again = try await backend.restarted()
        #expect(try ask(again.gateway, "GET", "/v1/assistants/shop").json?["name"] as? String == "Changed")
        let deletion = try ask(again.gateway, "DELETE", "/v1/assistants/shop", token: Self.administrator)
        #expect(deletion.status == 204)
        #expect(try ask(again.gateway, "GET", "/v1/assistants/shop").json?["name"] as? String == "Shop")
        #expect(try ask(again.gateway, "DELETE", "/v1/assistants/shop", token: Self.administrator).code == "assistant_not_found")
    }

    @Test func usersChooseFromAListWithoutSecrets() throws {
        let backend = try TestBackend(assistants: [Self.shop])
        let answer = try AppUser(backend, logs: false).ask("GET", "/v1/users/me/assistants")
        #expect(answer.status == 200)
        let list = try #require(answer.json?["assistants"] as? [[String: Any]])
        #expect(list.map { $0["id"] as? String } == ["default", "shop"])
        #expect(Set(list[1].keys) == ["id", "name", "voice", "language", "connected"])
        #expect(list[1]["name"] as? String == "Shop" && list[1]["connected"] as? Bool == false)
        for secret in ["secret", "llm.example", "Hello {name}"] { #expect(!answer.text.contains(secret)) }
        #expect(try ask(backend.gateway, "GET", "/v1/users/me/assistants").status == 401)
        #expect(try ask(backend.gateway, "GET", "/v1/users/me/assistants", token: Self.administrator).status == 401)
    }

    @Test func partialResultsOfARecognizerAreStored() async throws {
        let backend = try TestBackend()
        let body = #"""
            {"id":"shop","name":"Shop",
             "providers":{"recognizer":{"base_url":"https://asr.example","model":"m","partial_results":true}}}
            """#
        let put = try ask(backend.gateway, "PUT", "/v1/assistants/shop", body, token: Self.administrator)
        #expect(put.status == 200, "\(put.text)")
        let stored = try await backend.store.assistants.list().first { $0.id == "shop" }
        #expect(stored?.providers.recognizer?.partialResults == true)
    }

    @Test func fillerAndEarlyRequestsCanBeTurnedOff() async throws {
        let backend = try TestBackend()
        let body = #"""
            {"id":"shop","name":"Shop","filler_after_ms":null,
             "providers":{"responder":{"base_url":"https://llm.example","model":"m","ask_early":false}}}
            """#
        let put = try ask(backend.gateway, "PUT", "/v1/assistants/shop", body, token: Self.administrator)
        #expect(put.status == 200, "\(put.text)")
        let stored = try await backend.store.assistants.list().first { $0.id == "shop" }
        #expect(stored?.providers.responder?.askEarly == false && stored?.fillerAfterMs == 0)
    }

    @Test(arguments: [
        (#"{"id":"zoo"}"#, "differs from the path's"), (#"{"id":"shop","name":""}"#, "name is empty"),
        (#"{"id":"shop","tools":[{"name":"t","url":"gopher://x"}]}"#, "tools[0].url must begin with"),
        (#"{"id":"shop","colour":"red"}"#, "colour is no field here"), (#"{"name":"Shop"}"#, "id is missing"),
    ])
    func aWrongDefinitionIsRefusedWithItsField(body: String, says: String) throws {
        let backend = try TestBackend(assistants: [Self.shop])
        let answer = try ask(backend.gateway, "PUT", "/v1/assistants/shop", body, token: Self.administrator)
        #expect(answer.status == 400)
        #expect(answer.text.contains(says), "\(answer.text)")
        #expect(try ask(backend.gateway, "GET", "/v1/assistants/shop").json?["name"] as? String == "Shop")
    }
}

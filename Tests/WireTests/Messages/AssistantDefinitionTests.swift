import Testing
import Wire

struct AssistantDefinitionTests {
    private static let complete = AssistantDefinition(
        id: "shop_1", name: "Robin", instructions: "Sell books.", greetings: ["Hello {name}"], voice: "nova", language: "de-AT",
        providers: AssistantProviders(
            responder: ProviderSettings(
                baseUrl: "https://llm.example/v1", apiKeyEnv: "LLM_KEY", model: "small", timeoutMs: 5_000, retries: 1),
            realtime: ProviderSettings(baseUrl: "wss://llm.example/v1", model: "loud")),
        tools: [
            AssistantTool(
                name: "find", description: "Finds.", parameters: #"{"type":"object","properties":{"title":{"type":"string"}}}"#,
                url: "https://tools.example:8443/find?shop=1", timeoutMs: 60_000)
        ],
        quickCommands: ["What is new?"], onboarding: ["This is a shop."],
        widget: WidgetSettings(
            startText: "Talk", logoUrl: "https://shop.example/logo.svg", theme: "auto", visualizerColor: "bloom", startState: "collapsed"))

    @Test func onlyTheIdIsRequired() throws {
        let definition = try JSON.decode(AssistantDefinition.self, from: Array(#"{"id":"a"}"#.utf8), names: .snakeCase)
        #expect(definition == AssistantDefinition(id: "a"))
        #expect(definition.fault == nil)
    }

    @Test func aToolNeedsNameAndURL() throws {
        let text = #"{"id":"a","tools":[{"name":"t","url":"https://t.example"}]}"#
        let definition = try JSON.decode(AssistantDefinition.self, from: Array(text.utf8), names: .snakeCase)
        #expect(definition.tools == [AssistantTool(name: "t", url: "https://t.example")])
        #expect(definition.fault == nil)
    }

    @Test func aDefinitionSurvivesItsJSON() throws {
        #expect(Self.complete.fault == nil)
        let json = try JSON.encode(Self.complete, names: .snakeCase)
        #expect(try JSON.decode(AssistantDefinition.self, from: json, names: .snakeCase) == Self.complete)
    }

    @Test("The filler can be turned off", arguments: [("", 1_500), (#","filler_after_ms":null"#, 0), (#","filler_after_ms":0"#, 0)])
    func filler(_ field: String, _ expected: Int) throws {
        let definition = try JSON.decode(AssistantDefinition.self, from: Array(#"{"id":"a"\#(field)}"#.utf8), names: .snakeCase)
        #expect(definition.fillerAfterMs == expected && definition.fault == nil)
        let json = try JSON.encode(definition, names: .snakeCase)
        #expect(try JSON.decode(AssistantDefinition.self, from: json, names: .snakeCase) == definition)
    }

    @Test func limitsAreInclusive() {
        var definition = Self.complete
        definition.id = String(repeating: "a", count: 64)
        definition.instructions = String(repeating: "x", count: 32 << 10)
        definition.greetings = Array(repeating: String(repeating: "x", count: 1_024), count: 64)
        definition.tools = (0..<100).map { AssistantTool(name: "t\($0)", url: "https://t.example") }
        #expect(definition.fault == nil)
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        var fault: String
        var make: @Sendable (inout AssistantDefinition) -> Void
        var testDescription: String { fault }

        init(_ fault: String, _ make: @escaping @Sendable (inout AssistantDefinition) -> Void) {
            self.fault = fault
            self.make = make
        }
    }

    @Test(arguments: [
        Flaw("id must have 1 to 64 letters") { $0.id = "" },
        Flaw("filler_after_ms must be 0 to 15000") { $0.fillerAfterMs = 15_001 },
        Flaw("id must have 1 to 64 letters") { $0.id = "a/b" },
        Flaw("id must have 1 to 64 letters") { $0.id = "größe" },
        Flaw("id must have 1 to 64 letters") { $0.id = String(repeating: "a", count: 65) },
        Flaw("name is empty") { $0.name = "" },
        Flaw("instructions has more than 32768 bytes") { $0.instructions = String(repeating: "ü", count: 16_385) },
        Flaw("greetings has more than 64 entries") { $0.greetings = Array(repeating: "hi", count: 65) },
        Flaw("greetings[1] is empty") { $0.greetings = ["hi", ""] },
        Flaw("voice must be one of alloy") { $0.voice = "robot" },
        Flaw("language must be a BCP 47 tag") { $0.language = "english please" },
        Flaw("providers.responder.model is empty") { $0.providers.responder?.model = "" },
        Flaw("providers.responder.base_url must begin with") { $0.providers.responder?.baseUrl = "file:///etc/passwd" },
        Flaw("providers.responder.api_key_env must be the name") { $0.providers.responder?.apiKeyEnv = "sk-secret" },
        Flaw("providers.responder.api_key_env must not be a setting") { $0.providers.responder?.apiKeyEnv = "PATCHBAY_API_SECRET" },
        Flaw("providers.responder.api_key_env must not be a setting") { $0.providers.responder?.apiKeyEnv = "patchbay_master_key" },
        Flaw("providers.responder.retries must be 0 to 10") { $0.providers.responder?.retries = -1 },
        Flaw("tools has more than 100 entries") { $0.tools = (0...100).map { AssistantTool(name: "t\($0)", url: "https://t.example") } },
        Flaw("tools[1].name is used twice") { $0.tools.append($0.tools[0]) },
        Flaw("tools[0].name must have") { $0.tools[0].name = "find book" },
        Flaw("tools[0].url must begin with https:// or http://") { $0.tools[0].url = "ftp://a" },
        Flaw("tools[0].url has no host") { $0.tools[0].url = "https:///path" },
        Flaw("tools[0].url must not have a user") { $0.tools[0].url = "https://user:secret@host/" },
        Flaw("tools[0].url must have at most 2048 characters") { $0.tools[0].url = "https://host/a b" },
        Flaw("tools[0].timeout_ms must be 100 to 60000") { $0.tools[0].timeoutMs = 60_001 },
        Flaw("tools[0].parameters is not the JSON text of an object") { $0.tools[0].parameters = "{" },
        Flaw("tools[0].parameters is not the JSON text of an object") { $0.tools[0].parameters = "[]" },
        Flaw("tools[0].parameters must be a JSON Schema") { $0.tools[0].parameters = #"{"type":"string"}"# },
        Flaw("tools[0].parameters.properties is not an object") { $0.tools[0].parameters = #"{"properties":[]}"# },
        Flaw("widget.theme must be one of light, dark, auto") { $0.widget.theme = "pink" },
        Flaw("widget.start_state must be one of") { $0.widget.startState = "open" },
        Flaw("widget.start_text has more than 256 bytes") { $0.widget.startText = String(repeating: "x", count: 257) },
        Flaw("widget.logo_url must begin with") { $0.widget.logoUrl = "javascript:alert(1)" },
    ])
    func aFaultNamesTheField(_ flaw: Flaw) throws {
        var definition = Self.complete
        flaw.make(&definition)
        let fault = try #require(definition.fault)
        #expect(fault.hasPrefix(flaw.fault), "\(fault)")
    }
}

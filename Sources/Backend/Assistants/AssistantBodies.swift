package import HTTPServer
package import Wire

/// The public part of an assistant, without instructions, tools and providers.
struct AssistantView: Encodable, Sendable, Described {
    var id: String
    var name: String
    var voice: String
    var language: String
    var quickCommands: [String]
    var onboarding: [String]
    var widget: WidgetSettings

    init(_ definition: AssistantDefinition) {
        id = definition.id
        name = definition.name
        voice = definition.voice
        language = definition.language
        quickCommands = definition.quickCommands
        onboarding = definition.onboarding
        widget = definition.widget
    }

    static let schema = Schema.named(
        "Assistant",
        .object([
            .required("id", .text(1...64)), .required("name", .text), .required("voice", .text), .required("language", .text),
            .required("quick_commands", .array(of: .text)), .required("onboarding", .array(of: .text)),
            .required("widget", WidgetSettings.schema),
        ]))
}

/// All assistants with their complete definitions, for administrators.
struct AssistantList: Encodable, Sendable, Described {
    struct Entry: Encodable, Sendable {
        var source: String
        var assistant: AssistantDefinition
    }

    var assistants: [Entry]

    init(_ directory: AssistantDirectory) {
        assistants = directory.all.map { Entry(source: $0.source.rawValue, assistant: $0.definition) }
    }

    static let schema = Schema.named(
        "AssistantList",
        .object([
            .required(
                "assistants",
                .array(
                    of: .object([
                        .required("source", .choice(AssistantDirectory.Source.allCases.map(\.rawValue))),
                        .required("assistant", AssistantDefinition.schema),
                    ])))
        ]))
}

/// The assistants that a user chooses from.
struct AssistantChoices: Encodable, Sendable, Described {
    struct Choice: Encodable, Sendable {
        var id: String
        var name: String
        var voice: String
        var language: String
        /// Whether a worker of the assistant is connected.
        var connected: Bool

        fileprivate init(_ definition: AssistantDefinition, connected: Bool) {
            id = definition.id
            name = definition.name
            voice = definition.voice
            language = definition.language
            self.connected = connected
        }
    }

    var assistants: [Choice]

    /// - Parameter addsUndefined: also lists assistants that have a worker but no definition, under their id.
    init(_ directory: AssistantDirectory, _ dispatch: DispatchRegistry?, addsUndefined: Bool = false) {
        let connected = Set(dispatch?.assistantsWithWorkers ?? [])
        let defined = directory.all.map(\.definition)
        let undefined = addsUndefined ? connected.subtracting(defined.map(\.id)).map { AssistantDefinition(id: $0, name: $0) } : []
        assistants = (defined + undefined).sorted { $0.id < $1.id }.map { Choice($0, connected: connected.contains($0.id)) }
    }

    static let schema = Schema.named(
        "AssistantChoices",
        .object([
            .required(
                "assistants",
                .array(
                    of: .object([
                        .required("id", .text), .required("name", .text), .required("voice", .text), .required("language", .text),
                        .required("connected", .boolean),
                    ])))
        ]))
}

/// The product voices.
struct VoiceList: Encodable, Sendable, Described {
    struct Voice: Encodable, Sendable {
        var id: String
        /// For display.
        var name: String

        init(_ id: String) {
            self.id = id
            name = id.prefix(1).uppercased() + id.dropFirst()
        }
    }

    var voices = AssistantDefinition.voices.map { Voice($0) }

    static let schema = Schema.named(
        "VoiceList",
        .object([
            .required("voices", .array(of: .object([.required("id", .choice(AssistantDefinition.voices)), .required("name", .text)])))
        ]))
}

/// The schema is coarse: `AssistantDefinition.fault` checks sizes and relations.
extension AssistantDefinition: Described {
    package static let schema = Schema.named(
        "AssistantDefinition",
        .object([
            .required("id", .text(1...64)), .optional("name", .text), .optional("instructions", .text),
            .optional("greetings", .array(of: .text, atMost: 64)), .optional("voice", .choice(voices)), .optional("language", .text),
            .optional(
                "providers",
                .object(["recognizer", "responder", "synthesizer", "realtime"].map { .optional($0, ProviderSettings.schema) })),
            .optional("tools", .array(of: AssistantTool.schema, atMost: 100)), .optional("quick_commands", .array(of: .text, atMost: 32)),
            .optional("onboarding", .array(of: .text, atMost: 64)), .optional("filler_after_ms", .nullable(.integer)),
            .optional("widget", WidgetSettings.schema),
        ]))
}

extension ProviderSettings {
    fileprivate static let schema = Schema.named(
        "Provider",
        .object([
            .required("base_url", .text), .optional("api_key_env", .text), .required("model", .text), .optional("voice", .text),
            .optional("timeout_ms", .integer), .optional("retries", .integer), .optional("partial_results", .boolean),
            .optional("ask_early", .boolean),
        ]))
}

extension AssistantTool {
    fileprivate static let schema = Schema.named(
        "Tool",
        .object([
            .required("name", .text(1...64)), .optional("description", .text), .optional("parameters", .text), .required("url", .text),
            .optional("timeout_ms", .integer),
        ]))
}

extension WidgetSettings {
    fileprivate static let schema = Schema.named(
        "Widget",
        .object(
            [
                "start_text", "logo_url", "theme", "visualizer_color", "visualizer_preset", "thinking_text", "interrupt_text",
                "start_state", "history_url", "feedback_url",
            ].map { .optional($0, .text) }))
}

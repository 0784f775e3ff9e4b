internal import Wire

/// A data message of the assistant to its users (PROTOCOL, "Assistants").
enum AssistantMessage: Sendable, Hashable {
    case toolStarted(id: String, name: String)
    case toolFinished(id: String, name: String)
    case toolFailed(id: String, name: String, message: String, retry: Bool)
    case turnMetrics(TurnMetrics)

    static let topic = "patchbay.assistant"

    /// One line of JSON.
    var json: String {
        let bytes: [UInt8]?
        switch self {
        case .toolStarted(let id, let name): bytes = Self.encode(Tool(type: "tool.started", id: id, name: name))
        case .toolFinished(let id, let name): bytes = Self.encode(Tool(type: "tool.finished", id: id, name: name))
        case .toolFailed(let id, let name, let message, let retry):
            bytes = Self.encode(Tool(type: "tool.failed", id: id, name: name, message: message, retry: retry))
        case .turnMetrics(let metrics): bytes = Self.encode(Metrics(type: "turn.metrics", data: metrics))
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct Tool: Encodable {
        var type: String
        var id: String
        var name: String
        var message: String?
        var retry: Bool?
    }

    private struct Metrics: Encodable {
        var type: String
        var data: TurnMetrics
    }

    private static func encode(_ value: some Encodable) -> [UInt8]? { try? JSON.encode(value, names: .snakeCase) }
}

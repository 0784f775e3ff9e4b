internal import Wire

/// Client events of OpenAI's Realtime API, as JSON: the texts of WebSocket messages.
extension RealtimeRequest {
    /// Of `createResponse`: the server's refusal names it.
    static let responseEventID = "respond"

    /// The first request of a session.
    package static func update(_ configuration: RealtimeConfiguration, _ dialect: RealtimeDialect) -> [UInt8] {
        let session = dialect == .general ? generalSession(configuration) : betaSession(configuration)
        return encode(["type": "session.update", "session": session])
    }

    package func bytes(_ dialect: RealtimeDialect) -> [UInt8] { Self.encode(body(dialect)) }

    private static func encode(_ body: JSONValue) -> [UInt8] {
        // Encoding fails only for numbers that are not finite, and parsed JSON has none.
        (try? JSON.encode(body, names: .asDeclared)) ?? []
    }

    private func body(_ dialect: RealtimeDialect) -> JSONValue {
        switch self {
        case .appendAudio(let samples):
            ["type": "input_audio_buffer.append", "audio": .string(Base64.standard.encode(Self.littleEndian(samples)))]
        case .commitAudio: ["type": "input_audio_buffer.commit"]
        case .clearAudio: ["type": "input_audio_buffer.clear"]
        case .createResponse: ["type": "response.create", "event_id": .string(Self.responseEventID)]
        case .cancelResponse: ["type": "response.cancel"]
        case .truncate(let item, let played):
            [
                "type": "conversation.item.truncate", "item_id": .string(item), "content_index": 0,
                "audio_end_ms": .integer(max(played.inMilliseconds, 0)),
            ]
        case .appendUserText(let text):
            Self.item(["type": "message", "role": "user", "content": [["type": "input_text", "text": .string(text)]]])
        case .appendAssistantText(let text):
            Self.item([
                "type": "message", "role": "assistant",
                "content": [["type": dialect == .general ? "output_text" : "text", "text": .string(text)]],
            ])
        case .appendToolResult(let result, let call):
            Self.item(["type": "function_call_output", "call_id": .string(call), "output": .string(result)])
        }
    }

    private static func item(_ item: JSONValue) -> JSONValue {
        ["type": "conversation.item.create", "item": item]
    }

    private static func littleEndian(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    // MARK: Sessions

    private static func generalSession(_ configuration: RealtimeConfiguration) -> JSONValue {
        let format: JSONValue = ["type": "audio/pcm", "rate": .integer(Int64(RealtimeConfiguration.sampleRate))]
        return [
            "type": "realtime", "output_modalities": ["audio"], "instructions": .string(instructions(configuration)),
            "tools": .array(tools(configuration)),
            "audio": [
                "input": ["format": format, "turn_detection": .null, "transcription": transcription(configuration)],
                "output": ["format": format, "voice": .string(configuration.voice)],
            ],
        ]
    }

    private static func betaSession(_ configuration: RealtimeConfiguration) -> JSONValue {
        [
            "modalities": ["audio", "text"], "instructions": .string(instructions(configuration)), "voice": .string(configuration.voice),
            "input_audio_format": "pcm16", "output_audio_format": "pcm16", "turn_detection": .null,
            "input_audio_transcription": transcription(configuration), "tools": .array(tools(configuration)),
        ]
    }

    private static func instructions(_ configuration: RealtimeConfiguration) -> String {
        ChatRequest.systemPrompt(
            configuration.instructions, language: configuration.language, userName: configuration.userName, briefing: configuration.briefing
        )
    }

    private static func transcription(_ configuration: RealtimeConfiguration) -> JSONValue {
        guard let language = configuration.language.split(separator: "-").first else { return ["model": "whisper-1"] }
        return ["model": "whisper-1", "language": .string(String(language))]
    }

    private static func tools(_ configuration: RealtimeConfiguration) -> [JSONValue] {
        ChatRequest.definitions(of: configuration.tools).map { definition in
            guard case .object(let members) = definition else { return definition }
            return .object([JSONValue.Member("type", "function")] + members)
        }
    }
}

/// The form of the protocol that a server speaks; its first event shows it. OpenAI renamed events and session fields in 2025, and local servers
/// use the older names.
package enum RealtimeDialect: Sendable, Hashable {
    case general, beta
}

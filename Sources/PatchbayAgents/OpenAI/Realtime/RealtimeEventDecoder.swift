internal import Wire

/// Interprets server events of OpenAI's Realtime API, in both spellings. Unknown events are ignored.
package struct RealtimeEventDecoder: Sendable {
    /// Audio of one response.
    package static let secondsMax = 300
    private static let samplesMax = secondsMax * RealtimeConfiguration.sampleRate

    package enum Message: Sendable, Hashable {
        case sessionCreated(RealtimeDialect)
        case sessionUpdated
        case event(RealtimeEvent)
    }

    /// Of the current response.
    private var sampleCount = 0
    private var hasContent = false
    private var calls: Set<String> = []
    /// The first byte of a sample that two events share, and its item.
    private var halfSample: (byte: UInt8, item: String)?

    package init() {}

    /// - Throws: `ProviderError` of code `invalidResponse` if the session cannot go on.
    package mutating func decode(_ text: [UInt8]) throws(ProviderError) -> [Message] {
        guard let type = try? JSON.decode(EventType.self, from: text, names: .snakeCase).type else {
            throw ProviderError(.invalidResponse, "an event of the realtime session is malformed")
        }
        switch type {
        case "session.created":
            let fields: SessionEvent = try fields(of: text)
            return [.sessionCreated(fields.session?.type == nil && fields.session?.audio == nil ? .beta : .general)]
        case "session.updated": return [.sessionUpdated]
        case "response.done": return [.event(try done(fields(of: text)))]
        default:
            guard let event = try event(type, text) else { return [] }
            return [.event(event)]
        }
    }

    private mutating func event(_ type: String, _ text: [UInt8]) throws(ProviderError) -> RealtimeEvent? {
        switch type {
        case "input_audio_buffer.committed": return .inputCommitted(item: try (fields(of: text) as ItemEvent).itemId)
        case "conversation.item.input_audio_transcription.delta":
            let fields: ItemEvent = try fields(of: text)
            return .userTranscriptDelta(item: fields.itemId, fields.delta ?? "")
        case "conversation.item.input_audio_transcription.completed", "conversation.item.input_audio_transcription.failed":
            let fields: ItemEvent = try fields(of: text)
            return .userTranscript(item: fields.itemId, fields.transcript ?? "")
        case "response.created":
            (sampleCount, hasContent, calls, halfSample) = (0, false, [], nil)
            return .responseStarted(id: try (fields(of: text) as ResponseEvent).response.id)
        case "response.output_audio.delta", "response.audio.delta": return try audio(fields(of: text))
        case "response.output_audio_transcript.delta", "response.audio_transcript.delta", "response.output_text.delta",
            "response.text.delta":
            let fields: ItemEvent = try fields(of: text)
            hasContent = true
            return .transcriptDelta(item: fields.itemId, fields.delta ?? "")
        // The same call arrives in both events; not every server sends both.
        case "response.output_item.done":
            let fields: OutputItemEvent = try fields(of: text)
            return fields.item.type == "function_call" ? toolCall(fields.item) : nil
        case "response.function_call_arguments.done": return toolCall(try fields(of: text))
        case "error": return error(try fields(of: text))
        default: return nil
        }
    }

    private mutating func audio(_ fields: ItemEvent) throws(ProviderError) -> RealtimeEvent {
        guard var bytes = Base64.standard.decode((fields.delta ?? "").utf8) else {
            throw ProviderError(.invalidResponse, "audio of the realtime session is not Base64")
        }
        if let half = halfSample, half.item == fields.itemId { bytes.insert(half.byte, at: 0) }
        halfSample = bytes.count.isMultiple(of: 2) ? nil : bytes.popLast().map { ($0, fields.itemId) }
        let samples = stride(from: 0, to: bytes.count, by: 2).map { Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) }
        sampleCount += samples.count
        guard sampleCount <= Self.samplesMax else {
            throw ProviderError(.invalidResponse, "a response of the realtime session is longer than \(Self.secondsMax) s")
        }
        hasContent = true
        return .audio(item: fields.itemId, samples: samples)
    }

    private mutating func toolCall(_ item: FunctionCall) -> RealtimeEvent? {
        guard let id = item.callId, let name = item.name, !name.isEmpty, calls.count < ToolCallAssembly.callsMax, calls.insert(id).inserted
        else {
            return nil
        }
        hasContent = true
        if name == ChatRequest.endCallTool { return .endCall }
        return .toolCall(ToolCall(id: id, name: name, arguments: item.arguments.flatMap { $0.isEmpty ? nil : $0 } ?? "{}"))
    }

    private func done(_ fields: ResponseEvent) -> RealtimeEvent {
        let response = fields.response
        let outcome: RealtimeOutcome =
            switch response.status {
            case "cancelled": .cancelled
            case "failed":
                .failed(
                    response.statusDetails?.error?.providerError(at: "the response") ?? ProviderError(.overloaded, "the response failed"))
            case _ where !hasContent: .failed(ProviderError(.invalidResponse, "the response is empty"))
            default: .completed
            }
        return .responseDone(id: response.id, outcome)
    }

    /// Nil for the refusal of a cancellation that came too late.
    private func error(_ fields: ErrorEvent) -> RealtimeEvent? {
        if fields.error.code == "response_cancel_not_active" { return nil }
        if fields.error.eventId == RealtimeRequest.responseEventID {
            return .responseDone(id: "", .failed(fields.error.providerError(at: "the request for a response")))
        }
        return .error(fields.error.providerError(at: "a request of the realtime session"))
    }

    private func fields<Fields: Decodable>(of text: [UInt8]) throws(ProviderError) -> Fields {
        guard let fields = try? JSON.decode(Fields.self, from: text, names: .snakeCase) else {
            throw ProviderError(.invalidResponse, "an event of the realtime session lacks fields or has malformed ones")
        }
        return fields
    }
}

private struct EventType: Decodable {
    var type: String
}

private struct SessionEvent: Decodable {
    var session: Session?

    /// The beta has neither field.
    struct Session: Decodable {
        var type: String?
        var audio: Audio?
    }

    struct Audio: Decodable {}
}

private struct ItemEvent: Decodable {
    var itemId: String
    var delta: String?
    var transcript: String?
}

private struct OutputItemEvent: Decodable {
    var item: FunctionCall
}

private struct FunctionCall: Decodable {
    var type: String?
    var callId: String?
    var name: String?
    var arguments: String?
}

private struct ErrorEvent: Decodable {
    var error: ServerErrorBody
}

private struct ResponseEvent: Decodable {
    var response: Response

    struct Response: Decodable {
        var id: String
        var status: String?
        var statusDetails: StatusDetails?
    }

    struct StatusDetails: Decodable {
        var error: ServerErrorBody?
    }
}

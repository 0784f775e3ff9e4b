import PatchbayAgents
import Testing
import Wire

struct RealtimeEventDecoderTests {
    typealias Message = RealtimeEventDecoder.Message

    @Test(arguments: [
        (#"{"type":"session.created","session":{"type":"realtime","audio":{}}}"#, Message.sessionCreated(.general)),
        (#"{"type":"session.created","session":{"modalities":["text"],"turn_detection":null}}"#, .sessionCreated(.beta)),
        (#"{"type":"session.created"}"#, .sessionCreated(.beta)), (#"{"type":"session.updated","session":{}}"#, .sessionUpdated),
        (#"{"type":"input_audio_buffer.committed","item_id":"u"}"#, .event(.inputCommitted(item: "u"))),
        (
            #"{"type":"conversation.item.input_audio_transcription.delta","item_id":"u","delta":"Hi"}"#,
            .event(.userTranscriptDelta(item: "u", "Hi"))
        ),
        (
            #"{"type":"conversation.item.input_audio_transcription.completed","item_id":"u","transcript":"Hi."}"#,
            .event(.userTranscript(item: "u", "Hi."))
        ),
        (
            #"{"type":"conversation.item.input_audio_transcription.failed","item_id":"u","error":{}}"#,
            .event(.userTranscript(item: "u", ""))
        ),
        (#"{"type":"response.created","response":{"id":"r"}}"#, .event(.responseStarted(id: "r"))),
        (
            #"{"type":"response.output_audio.delta","item_id":"a","delta":"AQACAA=="}"#, .event(.audio(item: "a", samples: [1, 2]))
        ),
        (#"{"type":"response.audio.delta","item_id":"a","delta":"AQACAA=="}"#, .event(.audio(item: "a", samples: [1, 2]))),
        (
            #"{"type":"response.output_audio_transcript.delta","item_id":"a","delta":"x"}"#, .event(.transcriptDelta(item: "a", "x"))
        ),
        (#"{"type":"response.audio_transcript.delta","item_id":"a","delta":"x"}"#, .event(.transcriptDelta(item: "a", "x"))),
        (#"{"type":"error","error":{"type":"invalid_request_error","code":"invalid_value"}}"#, nil),
        (#"{"type":"rate_limits.updated","rate_limits":7}"#, nil), (#"{"type":"response.audio.done","item_id":7}"#, nil),
        (#"{"type":"error","error":{"type":"invalid_request_error","code":"response_cancel_not_active"}}"#, nil),
    ])
    func eventsInBothSpellingsAreUnderstood(_ text: String, _ expected: Message?) throws {
        var decoder = RealtimeEventDecoder()
        let messages = try decoder.decode(Array(text.utf8))
        if case .event(.error(let error))? = messages.first {
            #expect(error.code == .rejected)
        } else {
            #expect(messages == (expected.map { [$0] } ?? []))
        }
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"type":7}"#, #"{"type":"response.created"}"#, #"{"type":"response.audio.delta","delta":"AAAA"}"#,
        #"{"type":"response.audio.delta","item_id":"a","delta":"?"}"#,
    ])
    func malformedEventsEndTheSession(_ text: String) {
        var decoder = RealtimeEventDecoder()
        let error = #expect(throws: ProviderError.self) { try decoder.decode(Array(text.utf8)) }
        #expect(error?.code == .invalidResponse)
    }

    @Test func aSampleMayBeSplitBetweenTwoEvents() throws {
        let events = try decode([
            Self.started, #"{"type":"response.audio.delta","item_id":"a","delta":"AQAC"}"#,
            #"{"type":"response.audio.delta","item_id":"a","delta":"AAMA"}"#,
        ])
        #expect(events.dropFirst() == [.audio(item: "a", samples: [1]), .audio(item: "a", samples: [2, 3])])
    }

    @Test func aToolCallThatArrivesInTwoEventsIsReportedOnce() throws {
        let call = #""call_id":"c","name":"n","arguments":"{\"x\":1}""#
        let events = try decode([
            Self.started, #"{"type":"response.function_call_arguments.done","item_id":"i",\#(call)}"#,
            #"{"type":"response.output_item.done","item":{"type":"function_call",\#(call)}}"#,
            #"{"type":"response.output_item.done","item":{"type":"message"}}"#,
            #"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"e","name":"end_call"}}"#,
            Self.done("completed"),
        ])
        #expect(
            events.dropFirst() == [
                .toolCall(ToolCall(id: "c", name: "n", arguments: #"{"x":1}"#)), .endCall, .responseDone(id: "r", .completed),
            ])
    }

    @Test func aResponseEndsWithItsOutcome() throws {
        let text = #"{"type":"response.text.delta","item_id":"a","delta":"x"}"#
        #expect(try decode([Self.started, text, Self.done("completed")]).last == .responseDone(id: "r", .completed))
        #expect(try decode([Self.started, text, Self.done("incomplete")]).last == .responseDone(id: "r", .completed))
        #expect(try decode([Self.started, Self.done("cancelled")]).last == .responseDone(id: "r", .cancelled))
        guard case .responseDone(_, .failed(let empty))? = try decode([Self.started, Self.done("completed")]).last,
            case .responseDone(_, .failed(let failed))? = try decode([Self.started, text, Self.done("failed")]).last
        else {
            Issue.record("an empty and a failed response must fail")
            return
        }
        #expect(empty.code == .invalidResponse && failed.code == .overloaded)
    }

    @Test func aRefusedRequestForAResponseEndsIt() throws {
        let fields = #""type":"invalid_request_error","code":"conversation_already_has_active_response""#
        let events = try decode([#"{"type":"error","error":{\#(fields),"event_id":"respond"}}"#, #"{"type":"error","error":{\#(fields)}}"#])
        guard case .responseDone(id: "", .failed(let error))? = events.first, case .error? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(error.code == .rejected)
    }

    @Test func audioWithoutEndStopsAtItsLimit() throws {
        var decoder = RealtimeEventDecoder()
        let delta = Base64.standard.encode([UInt8](repeating: 0, count: 48_000 * 10))
        let event = Array(#"{"type":"response.audio.delta","item_id":"a","delta":"\#(delta)"}"#.utf8)
        for _ in 0..<RealtimeEventDecoder.secondsMax / 10 { _ = try decoder.decode(event) }
        #expect(throws: ProviderError.self) { try decoder.decode(event) }
    }

    private static let started = #"{"type":"response.created","response":{"id":"r"}}"#
    private static func done(_ status: String) -> String {
        #"{"type":"response.done","response":{"id":"r","status":"\#(status)","status_details":{"error":{"type":"server_error"}}}}"#
    }

    private func decode(_ texts: [String]) throws -> [RealtimeEvent] {
        var decoder = RealtimeEventDecoder()
        return try texts.flatMap { try decoder.decode(Array($0.utf8)) }.compactMap {
            if case .event(let event) = $0 { event } else { nil }
        }
    }
}

struct RealtimeRequestTests {
    @Test(arguments: [
        (RealtimeRequest.appendAudio([1, -2]), #"{"type":"input_audio_buffer.append","audio":"AQD+/w=="}"#),
        (.commitAudio, #"{"type":"input_audio_buffer.commit"}"#), (.clearAudio, #"{"type":"input_audio_buffer.clear"}"#),
        (.createResponse, #"{"type":"response.create","event_id":"respond"}"#), (.cancelResponse, #"{"type":"response.cancel"}"#),
        (
            .appendAssistantText("Hi."),
            #"{"type":"conversation.item.create","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}}"#
        ),
        (
            .truncate(item: "a", played: .microseconds(1_234_567)),
            #"{"type":"conversation.item.truncate","item_id":"a","content_index":0,"audio_end_ms":1234}"#
        ),
        (
            .appendToolResult("21 \"degrees\"", call: "c"),
            #"{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"c","output":"21 \"degrees\""}}"#
        ),
    ])
    func requestsAreWrittenAsDocumented(_ request: RealtimeRequest, _ expected: String) {
        #expect(String(decoding: request.bytes(.general), as: UTF8.self) == expected)
    }

    @Test func olderServersHaveAnotherNameForSpokenText() {
        let text = String(decoding: RealtimeRequest.appendAssistantText("Hi.").bytes(.beta), as: UTF8.self)
        #expect(text.contains(#""content":[{"type":"text","text":"Hi."}]"#))
    }

    @Test(arguments: [RealtimeDialect.general, .beta]) func theServersDetectionOfSpeechIsOff(dialect: RealtimeDialect) throws {
        let configuration = RealtimeConfiguration(instructions: "Be brief.", voice: "nova", language: "en-US", userName: "Ann")
        let session = try #require(try JSONValue(parsing: RealtimeRequest.update(configuration, dialect))["session"])
        let input = dialect == .general ? session["audio"]?["input"] : session
        #expect(input?["turn_detection"] == .null)
        #expect((dialect == .general ? session["audio"]?["output"]?["voice"] : session["voice"]) == "nova")
        #expect((input?["transcription"] ?? input?["input_audio_transcription"])?["language"] == "en")
    }
}

struct RealtimeEventQueueTests {
    @Test func eventsAreReadInOrderAndThenTheEnd() async {
        let queue = RealtimeEventQueue()
        for index in 0..<100 { #expect(queue.append(.responseStarted(id: "\(index)"))) }
        queue.finish(throwing: ProviderError(.disconnected, "lost"))
        queue.finish(throwing: nil)
        let (events, code) = await outcome(of: queue.stream)
        #expect(events == (0..<100).map { .responseStarted(id: "\($0)") } && code == "disconnected")
    }

    @Test func aReaderThatWaitsIsWokenByAnEventAndByTheEnd() async throws {
        let queue = RealtimeEventQueue()
        let reader = Task { await outcome(of: queue.stream) }
        try await Task.sleep(for: .milliseconds(20))
        #expect(queue.append(.endCall))
        try await Task.sleep(for: .milliseconds(20))
        queue.finish(throwing: nil)
        let (events, code) = await reader.value
        #expect(events == [.endCall] && code == nil)
    }

    @Test func aCancelledReaderIsReleased() async throws {
        let queue = RealtimeEventQueue()
        let reader = Task { await outcome(of: queue.stream) }
        try await Task.sleep(for: .milliseconds(20))
        reader.cancel()
        #expect(await reader.value.elements.isEmpty)
    }

    @Test func aQueueThatNobodyReadsIsLimitedByCountAndByBytes() {
        let (counted, sized) = (RealtimeEventQueue(), RealtimeEventQueue())
        for _ in 0..<RealtimeEventQueue.eventsMax { #expect(counted.append(.endCall)) }
        #expect(!counted.append(.endCall))
        let audio = RealtimeEvent.audio(item: "a", samples: Array(repeating: 0, count: RealtimeEventQueue.bytesMax / 4))
        #expect(sized.append(audio) && sized.append(audio) && !sized.append(audio))
    }
}

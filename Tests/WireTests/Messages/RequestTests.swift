import Foundation
import Testing
import Wire

struct RequestTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let type: String
        let data: String?
        let request: Request

        init(_ type: String, _ data: String?, _ request: Request) {
            self.type = type
            self.data = data
            self.request = request
        }

        var testDescription: String { "\(type) \(data ?? "")" }
        var text: String { #"{"type":"\#(type)","id":7\#(data.map { #","data":"# + $0 } ?? "")}"# }
    }

    static let examples: [Example] = [
        Example(
            "track.publish",
            #"{"name":"mic","source":"assistant","codec":"opus","mode":"ahead","frame_ms":60,"dtx":true,"fec":true,"channels":2}"#,
            .publish(PublishTrack(name: "mic", source: .assistant, mode: .ahead, frameMs: 60, dtx: true, fec: true, channels: 2))),
        Example("track.publish", "{}", .publish(PublishTrack())),
        Example("track.publish", #"{"frame_ms":2.5}"#, .publish(PublishTrack(frameMs: 2.5))),
        Example("track.unpublish", #"{"track":"TR_1"}"#, .unpublish(TrackSID(text: "TR_1"))),
        Example("track.mute", #"{"track":"TR_1","muted":true}"#, .mute(TrackSID(text: "TR_1"), muted: true)),
        Example("track.subscribe", #"{"track":"TR_1","subscribed":false}"#, .subscribe(TrackSID(text: "TR_1"), subscribed: false)),
        Example(
            "participant.update", #"{"name":"Ann","metadata":"m","attributes":{"snake_case":"1","camelCase":""}}"#,
            .updateParticipant(ParticipantUpdate(name: "Ann", metadata: "m", attributes: ["snake_case": "1", "camelCase": ""]))),
        Example("participant.update", "{}", .updateParticipant(ParticipantUpdate())),
        Example(
            "data.send", #"{"topic":"t","payload":"p","to":["bob"]}"#,
            .sendData(DataMessage(topic: "t", payload: .text("p"), to: [Identity(text: "bob")]))),
        Example("data.send", #"{"payload_base64":"AAEC"}"#, .sendData(DataMessage(topic: "", payload: .base64("AAEC")))),
        Example("text.send", #"{"text":"hello"}"#, .sendText(TextMessage(text: "hello"))),
        Example("text.send", #"{"text":"hello","topic":"t","to":[]}"#, .sendText(TextMessage(text: "hello", topic: "t", to: []))),
        Example(
            "rpc.request", #"{"to":"bob","method":"m","payload":"p","timeout_ms":5}"#,
            .callProcedure(ProcedureCall(to: Identity(text: "bob"), method: "m", payload: "p", timeoutMs: 5))),
        Example("rpc.request", #"{"to":"bob","method":"m"}"#, .callProcedure(ProcedureCall(to: Identity(text: "bob"), method: "m"))),
        Example(
            "rpc.response", #"{"request_id":"RPC_1","payload":"p"}"#,
            .answerProcedure(ProcedureAnswer(requestId: "RPC_1", payload: "p"))),
        Example(
            "rpc.response", #"{"request_id":"RPC_1","error":{"code":1500,"message":"no"}}"#,
            .answerProcedure(ProcedureAnswer(requestId: "RPC_1", error: ProcedureError(code: 1500, message: "no")))),
        Example(
            "transcript.segment", #"{"id":"s","role":"user","text":"hi"}"#, .segment(TranscriptSegment(id: "s", role: .user, text: "hi"))),
        Example(
            "transcript.segment",
            #"{"id":"s","rev":3,"role":"assistant","participant":"a","track":"TR_1","text":"hi","final":true,"language":"en-GB","start_ts":1,"end_ts":2,"words":[{"text":"hi","start_ts":1,"end_ts":2,"confidence":0.5}],"spoken":"in_progress","spoken_chars":2}"#,
            .segment(
                TranscriptSegment(
                    id: "s", rev: 3, role: .assistant, participant: Identity(text: "a"), track: TrackSID(text: "TR_1"), text: "hi",
                    final: true,
                    language: "en-GB", startTs: 1, endTs: 2, words: [TranscriptWord(text: "hi", startTs: 1, endTs: 2, confidence: 0.5)],
                    spoken: .inProgress, spokenChars: 2))),
        Example("agent.state", #"{"state":"thinking"}"#, .agentState(.thinking)),
        Example("call.hold", #"{"held":true}"#, .hold(true)),
        Example("dtmf.send", #"{"digits":"12#"}"#, .sendDigits("12#")),
        Example("ping", #"{"t":-5}"#, .ping(-5)),
        Example("ping", nil, .ping(0)),
        Example("token.refresh", nil, .refreshToken),
        Example("leave", nil, .leave(reason: nil)),
        Example("leave", #"{"reason":"USER_REJECTED"}"#, .leave(reason: "USER_REJECTED")),
    ]

    @Test("Every request is decoded", arguments: examples)
    func read(_ example: Example) throws {
        let incoming = Self.parse(example.text)
        #expect(incoming.id == 7)
        #expect(try incoming.content.get() == example.request)
    }

    @Test("Requests survive a round trip", arguments: examples)
    func comesBack(_ example: Example) throws {
        for id in [nil, 0, 7, UInt64.max] {
            let incoming = IncomingRequest(parsing: OutgoingRequest(example.request, id: id).bytes)
            #expect(incoming.id == id)
            #expect(try incoming.content.get() == example.request)
        }
    }

    @Test("Encoded requests use the protocol's names", arguments: examples)
    func names(_ example: Example) {
        let text = String(decoding: OutgoingRequest(example.request, id: 7).bytes, as: UTF8.self)
        #expect(text.contains("\"type\":\"\(example.type)\""))
        for name in (example.data ?? "").split(separator: "\"").filter({ $0.contains("_") && $0.allSatisfy { $0.isLetter || $0 == "_" } }) {
            #expect(text.contains(name), "\(name)")
        }
    }

    @Test("Requests without an id get no reply", arguments: [#"{"type":"ping"}"#, #"{"type":"ping","id":null}"#])
    func noNumber(_ text: String) throws {
        let incoming = Self.parse(text)
        #expect(incoming.id == nil)
        #expect(try incoming.content.get() == .ping(0))
    }

    @Test(
        "What is no request at all is malformed",
        arguments: ["", " ", "hello", "{", "}", "[]", "7", "null", "\"ping\"", "{}", #"{"id":7}"#, #"{"type":7}"#, "\u{0}"])
    func malformed(_ text: String) {
        #expect(Self.code(text) == .malformed)
    }

    @Test(
        "A number that is none makes the message malformed",
        arguments: ["-1", "1.5", "\"7\"", "true", "[7]", "{}", "18446744073709551616", "1e99"])
    func badNumber(_ number: String) {
        let incoming = Self.parse(#"{"type":"ping","id":\#(number)}"#)
        #expect(incoming.id == nil)
        #expect(Self.code(#"{"type":"ping","id":\#(number)}"#) == .malformed)
    }

    @Test(
        "What is missing or mistyped is said under the request's number",
        arguments: [
            ("track.publish", nil), ("track.publish", #"{"name":1}"#), ("track.publish", #"{"channels":"2"}"#), ("track.unpublish", nil),
            ("track.mute", #"{"track":"TR_1"}"#), ("track.subscribe", #"{"subscribed":true}"#),
            ("participant.update", #"{"attributes":1}"#),
            ("data.send", "{}"), ("data.send", #"{"payload":"a","payload_base64":"AA=="}"#), ("data.send", #"{"payload_base64":"A"}"#),
            ("text.send", "{}"), ("rpc.request", #"{"to":"bob"}"#), ("rpc.response", "{}"), ("transcript.segment", #"{"id":"s"}"#),
            ("agent.state", #"{"state":"sad"}"#), ("call.hold", "{}"), ("dtmf.send", "{}"), ("ping", #"{"t":"x"}"#),
            ("leave", #"{"reason":1}"#),
        ] as [(String, String?)])
    func invalid(_ type: String, _ data: String?) throws {
        let incoming = Self.parse(#"{"type":"\#(type)","id":7\#(data.map { #","data":"# + $0 } ?? "")}"#)
        #expect(incoming.id == 7)
        let error = try #require(throws: RequestError.self) { try incoming.content.get() }
        #expect(error.code == .invalidArgument)
        #expect(error.message.hasPrefix(type))
    }

    @Test func unknownTypesAreReportedTruncated() throws {
        let incoming = Self.parse(#"{"type":"\#(String(repeating: "x", count: 60_000))","id":7}"#)
        #expect(incoming.id == 7)
        let error = try #require(throws: RequestError.self) { try incoming.content.get() }
        #expect(error.code == .unknownType)
        #expect(error.message.utf8.count < 200)
    }

    @Test(arguments: ["[", #"{"a":"#])
    func nestingTenThousandDeepIsMalformedAndNoCrash(_ open: String) {
        let text = #"{"type":"ping","id":7,"data":"# + String(repeating: open, count: 10_000)
        #expect(Self.code(text) == .malformed)
        #expect(Self.code(text + String(repeating: open == "[" ? "]" : "1}", count: 10_000) + "}") == .malformed)
    }

    @Test func noBytesTrap() {
        var random = SplitMix64(seed: 4)
        let good = Self.examples.map { Array($0.text.utf8) }
        for _ in 0..<20_000 {
            var bytes = good[random.below(good.count)]
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            _ = IncomingRequest(parsing: bytes)
        }
    }

    @Test func theSizeOfBase64IsThatOfWhatIsMeant() {
        for count in 0..<20 {
            let text = Data(repeating: 7, count: count).base64EncodedString()
            #expect(DataPayload.base64(text).byteCount == count)
        }
        #expect(DataPayload.text("häß").byteCount == 5)
    }

    private static func parse(_ text: String) -> IncomingRequest { IncomingRequest(parsing: Array(text.utf8)) }

    private static func code(_ text: String) -> RequestError.Code? {
        if case .failure(let error) = parse(text).content { error.code } else { nil }
    }
}

import Testing
import Wire

struct CallRequestTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let type: String
        let data: String?
        let request: CallRequest

        init(_ type: String, _ data: String?, _ request: CallRequest) {
            self.type = type
            self.data = data
            self.request = request
        }

        var testDescription: String { "\(type) \(data ?? "")" }
        var text: String { #"{"type":"\#(type)","id":7\#(data.map { #","data":"# + $0 } ?? "")}"# }
    }

    private static let call = CallID(text: "CA_1")

    static let examples: [Example] = [
        Example(
            "call.start", #"{"to":["bob","assistant:helper"],"caller_name":"Ann","metadata":"m","idempotency_key":"k"}"#,
            .start(
                CallStart(
                    to: [.user(Identity(text: "bob")), .assistant("helper")], callerName: "Ann", metadata: "m", idempotencyKey: "k"))),
        Example("call.start", #"{"to":["bob"]}"#, .start(CallStart(to: [.user(Identity(text: "bob"))]))),
        Example("call.start", #"{"to":[],"conversation":"c"}"#, .start(CallStart(to: [], conversation: "c"))),
        Example("call.answer", #"{"call":"CA_1"}"#, .answer(call)),
        Example("call.reject", #"{"call":"CA_1"}"#, .reject(call, CallRejection())),
        Example("call.reject", #"{"call":"CA_1","busy":true,"reason":"r"}"#, .reject(call, CallRejection(isBusy: true, reason: "r"))),
        Example("call.cancel", #"{"call":"CA_1"}"#, .cancel(call)),
        Example("call.hangup", #"{"call":"CA_1"}"#, .hangUp(call)),
        Example("call.hold", #"{"call":"CA_1","held":true}"#, .hold(call, held: true)),
        Example("call.mute", #"{"call":"CA_1","muted":false}"#, .mute(call, muted: false)),
        Example("call.invite", #"{"call":"CA_1","to":["assistant:helper"]}"#, .invite(call, [.assistant("helper")])),
        Example("call.join", #"{"call":"CA_1"}"#, .join(call)),
        Example("token.renew", #"{"token":"a.b.c"}"#, .renew(token: "a.b.c")),
        Example("ping", #"{"t":-5}"#, .ping(-5)),
        Example("ping", nil, .ping(0)),
    ]

    @Test("Every request is decoded", arguments: examples)
    func read(_ example: Example) throws {
        let incoming = Self.parse(example.text)
        #expect(incoming.id == 7)
        #expect(try incoming.content.get() == example.request)
    }

    @Test("Requests survive a round trip under the protocol's names", arguments: examples)
    func comesBack(_ example: Example) throws {
        for id in [nil, 0, UInt64.max] {
            let bytes = OutgoingCallRequest(example.request, id: id).bytes
            let incoming = IncomingCallRequest(parsing: bytes)
            #expect(incoming.id == id)
            #expect(try incoming.content.get() == example.request)
            #expect(String(decoding: bytes, as: UTF8.self).contains("\"type\":\"\(example.type)\""))
        }
    }

    @Test(
        "What is missing or mistyped is said under the request's number",
        arguments: [
            ("call.start", nil), ("call.start", "{}"), ("call.start", #"{"to":"bob"}"#), ("call.start", #"{"to":[""]}"#),
            ("call.start", #"{"to":["assistant:"]}"#), ("call.start", #"{"to":[7]}"#), ("call.answer", nil), ("call.answer", "{}"),
            ("call.answer", #"{"call":7}"#), ("call.reject", #"{"call":"CA_1","busy":1}"#), ("call.hold", #"{"call":"CA_1"}"#),
            ("call.mute", #"{"call":"CA_1","muted":"yes"}"#), ("call.invite", #"{"call":"CA_1"}"#), ("ping", #"{"t":"x"}"#),
        ] as [(String, String?)])
    func invalid(_ type: String, _ data: String?) throws {
        let incoming = Self.parse(#"{"type":"\#(type)","id":7\#(data.map { #","data":"# + $0 } ?? "")}"#)
        #expect(incoming.id == 7)
        let error = try #require(throws: RequestError.self) { try incoming.content.get() }
        #expect(error.code == .invalidArgument)
        #expect(error.message.hasPrefix(type))
    }

    @Test("Other text is malformed", arguments: ["", "{", "[]", "null", "{}", #"{"id":7}"#, #"{"type":7}"#])
    func malformed(_ text: String) {
        #expect(throws: RequestError.self) { try Self.parse(text).content.get() }
    }

    @Test func roomRequestsAreUnknownOnUserChannels() throws {
        let error = try #require(throws: RequestError.self) { try Self.parse(#"{"type":"track.publish","data":{}}"#).content.get() }
        #expect(error.code == .unknownType)
    }

    @Test func aPartysNameIsAtMost256Bytes() {
        let longest = String(repeating: "x", count: 256)
        #expect(CallParty(text: longest) == .user(Identity(text: longest)))
        #expect(CallParty(text: longest + "x") == nil)
        #expect(CallParty(text: "assistant:" + longest) == .assistant(longest))
        #expect(CallParty(text: "assistant:" + longest + "x") == nil)
    }

    @Test func noBytesTrap() {
        var random = SplitMix64(seed: 5)
        let good = Self.examples.map { Array($0.text.utf8) }
        for _ in 0..<5_000 {
            var bytes = good[random.below(good.count)]
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            _ = IncomingCallRequest(parsing: bytes)
        }
    }

    private static func parse(_ text: String) -> IncomingCallRequest { IncomingCallRequest(parsing: Array(text.utf8)) }
}

import Testing
import Wire

struct CallMessageTests {
    private static let ann = CallParty.user(Identity(text: "ann"))
    private static let helper = CallParty.assistant("helper")
    private static let device = DeviceID(text: "DV_1")

    private static let call = CallInfo(
        id: CallID(text: "CA_1"), room: "call-CA_1", seq: .max, status: .answered, caller: ann, callerName: "Ann \"A\"", metadata: "{}",
        members: [
            CallMember(party: ann, status: .answered, held: true, muted: true, device: device), CallMember(party: helper, status: .timeout),
        ], startedAt: 1_795_266_000_000, answeredAt: 1_795_266_004_250)

    @Test("Events survive a round trip", arguments: CallEvent.Kind.allCases)
    func event(_ kind: CallEvent.Kind) throws {
        for event in [
            CallEvent(kind, Self.call), CallEvent(kind, Self.call, by: Self.helper, device: Self.device, reason: "why/\\\""),
        ] {
            #expect(try CallMessage(parsing: event.bytes) == .event(event))
        }
    }

    @Test func eventsMatchTheProtocol() {
        let call = CallInfo(
            id: CallID(text: "CA_1"), room: "call-CA_1", seq: 2, status: .ringing, caller: Self.ann,
            members: [
                CallMember(party: Self.ann, status: .answered, device: Self.device), CallMember(party: Self.helper, status: .ringing),
            ], startedAt: 1_795_266_000_001)
        let text = String(decoding: CallEvent(.ringing, call, by: Self.helper).bytes, as: UTF8.self)
        #expect(
            text
                == #"{"type":"call.ringing","data":{"call":{"id":"CA_1","uuid":"68907bba-dc75-8277-b806-e931ba3ae9e1","room":"call-CA_1","seq":2,"status":"ringing","caller":"ann","#
                + #""caller_name":"","metadata":"","members":[{"party":"ann","state":"joined","status":"answered","#
                + #""held":false,"muted":false,"device":"DV_1"},{"party":"assistant:helper","state":"invited","status":"ringing","held":false,"muted":false}],"#
                + #""started_at":"2026-11-21T13:00:00.001Z"},"#
                + #""by":"assistant:helper"}}"#)
    }

    @Test(
        "a call's UUID follows from its identifier",
        arguments: [
            ("CA_1", "68907bba-dc75-8277-b806-e931ba3ae9e1"), ("CA_4kT9bWqXz2Ae", "ddbb35b6-99d3-8032-a9cf-2d392efdb3dc"),
            ("", "6c62272e-07bb-8142-a2b8-21756295c58d"),
        ]) func uuid(id: String, uuid: String)
    {
        #expect(CallID(text: id).uuid == uuid)
    }

    @Test func callsOfOtherVersionsAreRead() throws {
        let old = #"{"id":"CA_1","room":"r","seq":1,"status":"ringing","caller":"ann","caller_name":"","metadata":"","members":[]"#
        let bare = try CallMessage(parsing: Array((#"{"type":"reply","re":1,"data":{"call":"# + old + "}}}").utf8))
        guard case .reply(_, let reply) = bare else { Issue.record("not a reply"); return }
        #expect(reply.call?.startedAt == nil && reply.call?.id.uuid == "68907bba-dc75-8277-b806-e931ba3ae9e1")
        for wrong in ["yesterday", "2026-13-01T00:00:00Z", ""] {
            let text = #"{"type":"reply","re":1,"data":{"call":"# + old + #","started_at":""# + wrong + #""}}}"#
            #expect(throws: (any Error).self) { try CallMessage(parsing: Array(text.utf8)) }
        }
    }

    @Test func helloSurvivesARoundTrip() throws {
        for nodes in [nil, ["wss://n2.example"]] {
            let hello = CallsHello(
                server: ServerInfo(version: "1", node: "n"), user: Identity(text: "ann"), device: Self.device, calls: [Self.call],
                expiresIn: 900, nodes: nodes)
            #expect(try CallMessage(parsing: hello.bytes) == .hello(hello))
            #expect(String(decoding: hello.bytes, as: UTF8.self).contains("nodes") == (nodes != nil))
        }
    }

    @Test func repliesSurviveARoundTrip() throws {
        for reply in [
            CallReply(Self.call), CallReply(pong: .min), CallReply(expiresIn: 900),
            CallReply(Self.call, livekitURL: "wss://host:7880", livekitToken: "a.b.c", roomName: "call-CA_1"),
        ] {
            #expect(try CallMessage(parsing: reply.bytes(re: 7)) == .reply(re: 7, reply))
        }
    }

    @Test func conflictErrorsCarryTheCurrentCall() throws {
        let refusal = CallError(.conflict, "it is answered", call: Self.call)
        #expect(try CallMessage(parsing: refusal.bytes(re: 7)) == .error(re: 7, refusal))
        let malformed = CallError(RequestError(.malformed, "no"))
        #expect(try CallMessage(parsing: malformed.bytes(re: nil)) == .error(re: nil, malformed))
    }

    @Test func briefingsUseThePublishedNames() {
        let reply = CallReply(Self.call, livekitURL: "u", livekitToken: "t", roomName: "r")
        let text = String(decoding: reply.bytes(re: 1), as: UTF8.self)
        #expect(text.hasSuffix(#""livekit_url":"u","livekit_token":"t","room_name":"r"}}"#))
    }

    @Test func unknownEventsAreIgnored() throws {
        let text = #"{"type":"call.transferred","data":{"to":"mars"}}"#
        #expect(try CallMessage(parsing: Array(text.utf8)) == .unknownEvent(type: "call.transferred"))
    }

    @Test("A member's state follows from its status", arguments: CallStatus.allCases)
    func states(_ status: CallStatus) {
        let expected: CallMemberState =
            switch status {
            case .started, .ringing: .invited
            case .answered: .joined
            default: .left
            }
        #expect(CallMember(party: Self.ann, status: status).state == expected)
        #expect(status.isOver == (expected == .left))
    }
}

import Testing
import Wire

/// An invalid text message and the expected reaction.
struct BadText: Sendable, CustomTestStringConvertible {
    enum Answer: Sendable, Hashable {
        /// An error reply with this ID or none.
        case error(String, re: UInt64?)
        /// No reply; only a counter increases.
        case silence(String)
        case close(UInt16)
    }

    let testDescription: String
    let answer: Answer
    let bytes: [UInt8]

    init(_ story: String, _ answer: Answer, _ text: String) {
        self.init(story, answer, Array(text.utf8))
    }

    init(_ story: String, _ answer: Answer, _ bytes: [UInt8]) {
        testDescription = story
        self.answer = answer
        self.bytes = bytes
    }

    /// A known request with ID 7 and an invalid body.
    init(_ type: String, _ code: String, _ data: String) {
        self.init("\(type) \(data.prefix(60))", .error(code, re: 7), #"{"type":"\#(type)","id":7,"data":\#(data)}"#)
    }
}

extension BadText {
    static let ofForm: [BadText] = [
        BadText("no JSON", .error("malformed", re: nil), "hello"),
        BadText("an open brace", .error("malformed", re: nil), "{"),
        BadText("half a message", .error("malformed", re: nil), #"{"type":"ping","id":7,"da"#),
        BadText("something behind it", .error("malformed", re: nil), #"{"type":"ping","id":7}{}"#),
        BadText("an array", .error("malformed", re: nil), #"[{"type":"ping","id":7}]"#),
        BadText("a number", .error("malformed", re: nil), "7"),
        BadText("a string", .error("malformed", re: nil), #""ping""#),
        BadText("null", .error("malformed", re: nil), "null"),
        BadText("spaces", .error("malformed", re: nil), "   "),
        BadText("a NUL", .error("malformed", re: nil), [0]),
        BadText("nested 10,000 deep", .error("malformed", re: nil), #"{"type":"ping","id":7,"data":"# + nested(10_000) + "}"),
        BadText("32,000 open brackets", .error("malformed", re: nil), String(repeating: "[", count: 32_000)),
        BadText("no type", .error("malformed", re: 7), #"{"id":7,"data":{}}"#),
        BadText("a type that is a number", .error("malformed", re: 7), #"{"type":1,"id":7}"#),
        BadText("a type that is null", .error("malformed", re: 7), #"{"type":null,"id":7}"#),
        BadText("an unknown type", .error("unknown_type", re: 7), #"{"type":"room.explode","id":7}"#),
        BadText(
            "an unknown type of 10,000 letters", .error("unknown_type", re: 7),
            #"{"type":"\#(String(repeating: "x", count: 10_000))","id":7}"#),
        BadText("an unknown type with quotes in it", .error("unknown_type", re: 7), #"{"type":"\"}\\","id":7}"#),
        BadText("an unknown type without a number", .silence("unknown_type"), #"{"type":"room.explode"}"#),
        BadText("a known type without a number and a body", .silence("invalid_argument"), #"{"type":"track.publish"}"#),
        BadText("the gateway's own word", .error("unknown_type", re: 7), #"{"type":"hello","id":7,"data":{}}"#),
        BadText("a negative number", .error("malformed", re: nil), #"{"type":"ping","id":-1}"#),
        BadText("a broken number", .error("malformed", re: nil), #"{"type":"ping","id":1.5}"#),
        BadText("a number that is text", .error("malformed", re: nil), #"{"type":"ping","id":"7"}"#),
        BadText("a number that is a truth", .error("malformed", re: nil), #"{"type":"ping","id":true}"#),
        BadText("a number over 64 bits", .error("malformed", re: nil), #"{"type":"ping","id":18446744073709551616}"#),
        BadText("a number beyond all numbers", .error("malformed", re: nil), #"{"type":"ping","id":1e999}"#),
        BadText("bytes that are no UTF-8", .close(1007), [0xFF, 0xFE]),
        BadText("UTF-8 that is too long for what it says", .close(1007), Array(#"{"type":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8)),
        BadText("half a surrogate", .close(1007), Array(#"{"type":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8)),
        BadText("UTF-8 that breaks off", .close(1007), Array(#"{"type":""#.utf8) + [0xF0, 0x9F, 0x98]),
        BadText("65,537 bytes", .close(1009), padded(to: 65_537)),
        BadText("200,000 bytes", .close(1009), padded(to: 200_000)),
    ]

    static let ofRequest: [BadText] = [
        BadText("track.publish without a body", .error("invalid_argument", re: 7), #"{"type":"track.publish","id":7}"#),
        BadText("track.publish", "invalid_argument", "null"),
        BadText("track.publish", "invalid_argument", "[]"),
        BadText("track.publish", "invalid_argument", #""microphone""#),
        BadText("track.publish", "invalid_argument", #"{"name":5}"#),
        BadText("track.publish", "invalid_argument", #"{"source":"camera"}"#),
        BadText("track.publish", "invalid_argument", #"{"mode":"behind"}"#),
        BadText("track.publish", "invalid_argument", #"{"frame_ms":"20"}"#),
        BadText("track.publish", "invalid_argument", #"{"frame_ms":21}"#),
        BadText("track.publish", "invalid_argument", #"{"frame_ms":-20}"#),
        BadText("track.publish", "invalid_argument", #"{"frame_ms":0}"#),
        BadText("track.publish", "invalid_argument", #"{"dtx":"yes"}"#),
        BadText("track.publish", "invalid_argument", #"{"fec":1.5}"#),
        BadText("track.publish", "invalid_argument", #"{"channels":0}"#),
        BadText("track.publish", "invalid_argument", #"{"channels":3}"#),
        BadText("track.publish", "invalid_argument", #"{"channels":1.5}"#),
        BadText("track.publish", "unsupported", #"{"codec":"pcmu"}"#),
        BadText("track.publish", "limit_exceeded", #"{"name":"\#(long(257))"}"#),
        BadText("track.unpublish", "invalid_argument", "{}"),
        BadText("track.unpublish", "invalid_argument", #"{"track":1}"#),
        BadText("track.unpublish", "not_found", #"{"track":"TR_nowhere"}"#),
        BadText("track.mute", "invalid_argument", #"{"track":"TR_nowhere"}"#),
        BadText("track.mute", "invalid_argument", #"{"muted":true}"#),
        BadText("track.mute", "invalid_argument", #"{"track":"TR_nowhere","muted":"yes"}"#),
        BadText("track.mute", "not_found", #"{"track":"TR_nowhere","muted":true}"#),
        BadText("track.subscribe", "invalid_argument", "{}"),
        BadText("track.subscribe", "invalid_argument", #"{"track":"TR_nowhere","subscribed":2}"#),
        BadText("track.subscribe", "not_found", #"{"track":"TR_nowhere","subscribed":true}"#),
        BadText("participant.update", "invalid_argument", "null"),
        BadText("participant.update", "invalid_argument", #"{"name":5}"#),
        BadText("participant.update", "invalid_argument", #"{"attributes":{"a":1}}"#),
        BadText("participant.update", "invalid_argument", #"{"attributes":["a"]}"#),
        BadText("participant.update", "not_allowed", #"{"name":"Adam"}"#),
        BadText("data.send", "invalid_argument", "{}"),
        BadText("data.send", "invalid_argument", #"{"topic":"t","payload":5}"#),
        BadText("data.send", "invalid_argument", #"{"payload":"a","payload_base64":"YQ=="}"#),
        BadText("data.send", "invalid_argument", #"{"payload_base64":"not base64"}"#),
        BadText("data.send", "invalid_argument", #"{"payload":"a","to":"lea"}"#),
        BadText("data.send", "not_found", #"{"payload":"a","to":["nobody"]}"#),
        BadText("data.send", "limit_exceeded", #"{"payload":"\#(long(64_001))"}"#),
        BadText("data.send", "limit_exceeded", #"{"topic":"\#(long(257))","payload":"a"}"#),
        BadText("text.send", "invalid_argument", "{}"),
        BadText("text.send", "invalid_argument", #"{"text":["a"]}"#),
        BadText("text.send", "limit_exceeded", #"{"text":"\#(long(64_001))"}"#),
        BadText("rpc.request", "invalid_argument", "{}"),
        BadText("rpc.request", "invalid_argument", #"{"to":"lea"}"#),
        BadText("rpc.request", "invalid_argument", #"{"to":"lea","method":""}"#),
        BadText("rpc.request", "invalid_argument", #"{"to":"lea","method":"\#(long(65))"}"#),
        BadText("rpc.request", "invalid_argument", #"{"to":"lea","method":"m","timeout_ms":0}"#),
        BadText("rpc.request", "invalid_argument", #"{"to":"lea","method":"m","timeout_ms":60001}"#),
        BadText("rpc.request", "1401", #"{"to":"nobody","method":"m"}"#),
        BadText("rpc.request", "1402", #"{"to":"lea","method":"m","payload":"\#(long(15_361))"}"#),
        BadText("rpc.response", "invalid_argument", "{}"),
        BadText("rpc.response", "not_found", #"{"request_id":"RPC_nothing","payload":""}"#),
        BadText("rpc.response", "invalid_argument", #"{"request_id":"RPC_nothing","error":"bad"}"#),
        BadText("transcript.segment", "invalid_argument", "{}"),
        BadText("transcript.segment", "invalid_argument", #"{"id":"s","role":"nobody","text":"a"}"#),
        BadText("transcript.segment", "invalid_argument", #"{"id":"","role":"user","text":"a"}"#),
        BadText("transcript.segment", "invalid_argument", #"{"id":"s","role":"user","text":"a","start_ts":-1}"#),
        BadText("transcript.segment", "invalid_argument", #"{"id":"s","role":"user","text":"a","words":[{"text":"a"}]}"#),
        BadText("transcript.segment", "not_allowed", #"{"id":"s","role":"assistant","text":"a"}"#),
        BadText("transcript.segment", "not_allowed", #"{"id":"s","role":"user","participant":"lea","text":"a"}"#),
        BadText("agent.state", "invalid_argument", "{}"),
        BadText("agent.state", "invalid_argument", #"{"state":"dancing"}"#),
        BadText("agent.state", "not_allowed", #"{"state":"idle"}"#),
        BadText("call.hold", "invalid_argument", "{}"),
        BadText("call.hold", "invalid_argument", #"{"held":"yes"}"#),
        BadText("dtmf.send", "invalid_argument", "{}"),
        BadText("dtmf.send", "invalid_argument", #"{"digits":""}"#),
        BadText("dtmf.send", "invalid_argument", #"{"digits":"12x"}"#),
        BadText("dtmf.send", "invalid_argument", #"{"digits":"\#(String(repeating: "1", count: 65))"}"#),
        BadText("ping", "invalid_argument", #"{"t":"now"}"#),
        BadText("ping", "invalid_argument", #"{"t":1e300}"#),
        BadText("leave", "invalid_argument", #"{"reason":5}"#),
    ]

    static func padded(to count: Int) -> String {
        let message = #"{"type":"ping","id":7}"#
        return message + String(repeating: " ", count: count - message.utf8.count)
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func long(_ count: Int) -> String { String(repeating: "a", count: count) }
}

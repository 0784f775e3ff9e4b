import Foundation
import Testing

@testable import Wire

/// How `Codable` types and JSON meet.
struct JSONCodingTests {
    @Test("Texts are exchangeable with Foundation", arguments: 0..<8)
    func againstFoundation(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let tree = JSONTree(depth: 5, from: &random)
            let ours = try JSON.encode(tree, names: .asDeclared)
            let object = try JSONSerialization.jsonObject(with: Data(ours), options: .fragmentsAllowed)
            #expect(JSONTree(object) == tree)
            for options in [.fragmentsAllowed, [.fragmentsAllowed, .prettyPrinted]] as [JSONSerialization.WritingOptions] {
                let theirs = try JSONSerialization.data(withJSONObject: object, options: options)
                #expect(try JSON.decode(JSONTree.self, from: Array(theirs), names: .asDeclared) == tree)
            }
            #expect(try JSON.decode(JSONTree.self, from: ours, names: .asDeclared) == tree)
        }
    }

    /// These are bodies of HTTP as well.
    @Test func fieldsAreThoseOfCodable() throws {
        for case .hello(let hello) in ServerMessageTests.events {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            for info in [hello.participant] + hello.participants {
                #expect(try JSONOutput.bytes(ofBody: info) == JSON.encode(info, names: .snakeCase))
                #expect(try tree(JSONOutput.bytes(ofBody: info)) == tree(Array(encoder.encode(info))))
            }
            #expect(try JSONOutput.bytes(ofBody: hello.room) == JSON.encode(hello.room, names: .snakeCase))
        }
    }

    @Test(
        "Text is escaped where it must be and nowhere else",
        arguments: [
            ("", ""), ("a/b", "a/b"), ("\"\\", #"\"\\"#), ("\u{8}\t\n\u{C}\r", #"\b\t\n\f\r"#),
            ("\u{0}\u{1}\u{F}\u{10}\u{1F}", #"\u0000\u0001\u000f\u0010\u001f"#),
            ("\u{7F}ä\u{2028}\u{1F600}", "\u{7F}ä\u{2028}\u{1F600}"), ("a\"b", #"a\"b"#), ("\nab", #"\nab"#), ("ab\n", #"ab\n"#),
        ])
    func escapes(_ text: String, _ inside: String) throws {
        let bytes = try JSON.encode(text, names: .asDeclared)
        #expect(String(decoding: bytes, as: UTF8.self) == "\"\(inside)\"")
        #expect(try JSON.decode(String.self, from: bytes, names: .asDeclared) == text)
    }

    private struct Sample: Codable, Equatable {
        var sessionId = 1
        var lateP99Ms: Double? = 2.5
        var nothing: Int?
        var `protocol` = [Int?]([1, nil])
        var attributes = ["b_c": "2", "aB": "1"]
        var more: [[String: String]] = [[:], ["xY": ""]]
    }

    @Test func namesAreSnakeCaseInTheOrderOfTheFieldsAndThoseOfDictionariesAreData() throws {
        let bytes = try JSON.encode(Sample(), names: .snakeCase)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"session_id":1,"late_p99_ms":2.5,"protocol":[1,null],"attributes":{"aB":"1","b_c":"2"},"more":[{},{"xY":""}]}"#)
        #expect(try JSON.decode(Sample.self, from: bytes, names: .snakeCase) == Sample())
        #expect(throws: DecodingError.self) { try JSON.decode(Sample.self, from: bytes, names: .asDeclared) }
    }

    @Test(
        "Of a name that occurs twice the first counts, however it is written",
        arguments: [#"{"a":"1","a":"2"}"#, #"{"\u0061":"1","a":"2"}"#, #"{"b":"0","a":"1","\u0061":"2"}"#])
    func twice(_ text: String) throws {
        struct Letter: Decodable { var a: String }
        #expect(try JSON.decode(Letter.self, from: Array(text.utf8), names: .snakeCase).a == "1")
        #expect(try JSON.decode([String: String].self, from: Array(text.utf8), names: .snakeCase)["a"] == "1")
    }

    private enum Key: String, CodingKey { case a, b, c, d }

    /// Asks for its container twice, leaves containers open, and has one of each kind inside.
    private struct Untidy: Encodable {
        func encode(to encoder: any Encoder) throws {
            var first = encoder.container(keyedBy: Key.self)
            var inner = first.nestedContainer(keyedBy: Key.self, forKey: .a)
            try inner.encode(1, forKey: .a)
            var list = inner.nestedUnkeyedContainer(forKey: .b)
            try list.encode("x")
            var deep = list.nestedUnkeyedContainer()
            try deep.encode(true)
            try list.encodeNil()
            try inner.encodeNil(forKey: .c)
            try 5.encode(to: first.superEncoder(forKey: .b))
            var second = encoder.container(keyedBy: Key.self)
            try second.encode([Int](), forKey: .c)
            _ = second.nestedContainer(keyedBy: Key.self, forKey: .d)
        }
    }

    @Test func containersCloseInTheirOrder() throws {
        let bytes = try JSON.encode([Untidy(), Untidy()], names: .snakeCase)
        let one = #"{"a":{"a":1,"b":["x",[true],null],"c":null},"b":5,"c":[],"d":{}}"#
        #expect(String(decoding: bytes, as: UTF8.self) == "[\(one),\(one)]")
    }

    @Test func valuesThatEncodeNothingAreErrors() {
        struct Silent: Encodable { func encode(to _: any Encoder) {} }
        #expect(throws: EncodingError.self) { try JSON.encode(["a": Silent()], names: .asDeclared) }
    }

    @Test func aMissingElementIsAnError() throws {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                #expect(list.count == 1)
                #expect(try list.decodeNil() == false)
                _ = try list.decode(Int.self)
                #expect(list.isAtEnd && list.currentIndex == 1)
                _ = try list.decode(Int.self)
            }
        }
        #expect(throws: DecodingError.self) { try JSON.decode(Pair.self, from: Array("[1]".utf8), names: .asDeclared) }
    }

    @Test(
        "A client is told which field is wrong, and how",
        arguments: [
            (#"{"type":"text.send","data":{}}"#, "text.send: `text` is missing"),
            (#"{"type":"text.send"}"#, "text.send: `data` is missing"),
            (#"{"type":"text.send","data":null}"#, "text.send: `data` has the wrong type"),
            (#"{"type":"text.send","data":[]}"#, "text.send: `data` has the wrong type"),
            (#"{"type":"text.send","data":{"text":null}}"#, "text.send: `data.text` has the wrong type"),
            (#"{"type":"text.send","data":{"text":"a","to":["b",7]}}"#, "text.send: `data.to.1` has the wrong type"),
            (
                #"{"type":"rpc.request","data":{"to":"b","method":"m","timeout_ms":"5"}}"#,
                "rpc.request: `data.timeout_ms` has the wrong type"
            ),
            (#"{"type":"rpc.response","data":{}}"#, "rpc.response: `request_id` is missing"),
            (#"{"type":"track.publish","data":{"source":"camera"}}"#, "track.publish: `data.source` has a value that is not allowed"),
            (
                #"{"type":"track.publish","data":{"name":"a","channels":1.5}}"#,
                "track.publish: `data.channels` has a value that is not allowed"
            ),
            (
                #"{"type":"participant.update","data":{"attributes":{"a":"","b":1}}}"#,
                "participant.update: `data.attributes.b` has the wrong type"
            ),
            (
                #"{"type":"transcript.segment","data":{"id":"s","role":"user","text":"","words":[{"text":"","start_ts":1,"end_ts":-1}]}}"#,
                "transcript.segment: `data.words.0.end_ts` has a value that is not allowed"
            ),
            ("[]", "the message is not a JSON object: `the message` has the wrong type"),
            ("{", "the message is not a JSON object: it does not parse"),
        ])
    func explained(_ text: String, _ sentence: String) throws {
        let error = try #require(throws: RequestError.self) { try IncomingRequest(parsing: Array(text.utf8)).content.get() }
        #expect(error.message == sentence)
    }

    private func tree(_ bytes: [UInt8]) throws -> JSONTree { JSONTree(try JSONSerialization.jsonObject(with: Data(bytes))) }
}

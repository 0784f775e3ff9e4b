import Foundation
import Testing
import Wire

/// Acceptance of JSON texts, and the values in them.
struct JSONTextTests {
    @Test(
        "What RFC 8259 allows is read",
        arguments: [
            "{}", "[]", "0", "-0", "1", "-1", "10", "0.5", "-0.5", "1.25e3", "1E3", "1e+3", "1e-3", "0e0", "0.0",
            "123456789012345678901234567890",
            "true", "false", "null", #""""#, #""a""#, " \t\r\n1 \t\r\n", "[ 1 , 2 ]", "[1,[2,[3]]]", "[[],[],{}]", "[null,true,false]",
            #"{"a":1}"#, #"{ "a" : { "b" : [ ] } }"#, #"{"a":1,"b":2}"#, #"{"":0}"#, #"{"\u0061":1}"#,
            #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\u00e4\u00E4""#, #""\ud83d\ude00""#, "\"\u{7F}\u{80}\u{2028}\u{FFFF}\u{1F600}\"",
            "\"\\ud83d\\ude00\u{1F600}\"",
        ])
    func good(_ text: String) throws {
        let ours = try JSON.decode(JSONTree.self, from: Array(text.utf8), names: .asDeclared)
        #expect(ours == JSONTree(try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)))
    }

    @Test(
        "What RFC 8259 does not allow is refused",
        arguments: [
            "", " ", "{", "}", "[", "]", "{]", "[}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "1 2", "1,", "{}{}", "[]]",
            "{}}",
            #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{"a" 1}"#, #"{"a"::1}"#, "{1:2}", "{a:1}", "{null:1}",
            "{'a':1}", #"{"a":1"#,
            #"{"a""#, "'a'", "a", "True", "TRUE", "tru", "truely", "nul", "nan", "NaN", "Infinity", "-Infinity", "undefined", "+1", "01",
            "-01", "00", "-", "--1",
            "1.", ".5", "-.5", "1.e3", "1e", "1e+", "1e1.5", "0x10", "1_000", "1a", #"""#, #""a"#, #""\""#, #""\q""#, #""\x41""#,
            #""\U0041""#, #""\u""#, #""\u12""#,
            #""\u12G4""#, #""\u+123""#, #""\ud800""#, #""\ud800a""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00""#, #""\ude00\ud83d""#,
            "\"\t\"", "\"\n\"",
            "\"\u{0}\"", "\"\u{1F}\"", "1\u{0}", "\u{0}", "\u{FEFF}1", "\u{A0}1", "\u{0B}1", "\u{0C}1", "// a\n1", "/**/1", "1#",
        ])
    func bad(_ text: String) {
        #expect(throws: DecodingError.self) { try JSON.decode(JSONTree.self, from: Array(text.utf8), names: .asDeclared) }
    }

    @Test(
        "What is not UTF-8 is refused",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0x80]] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        #expect(throws: DecodingError.self) { try JSON.decode(String.self, from: [0x22] + bytes + [0x22], names: .asDeclared) }
    }

    @Test func everyTruncatedTextIsRejected() {
        let text = Array(#"{"a":[1.5e-3,"\u00e4ä\ud83d\ude00",true,null,{"b":-1}]}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: DecodingError.self) { try JSON.decode(JSONTree.self, from: Array(text.prefix(count)), names: .asDeclared) }
        }
    }

    @Test(arguments: ["[", #"{"a":"#])
    func nestingIsLimited(_ opening: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let closing = opening == "[" ? "]" : "}"
            return Array((String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)).utf8)
        }
        _ = try JSON.decode(Ignored.self, from: nested(JSON.depthMax), names: .asDeclared)
        for depth in [JSON.depthMax + 1, 100_000] {
            #expect(throws: DecodingError.self) { try JSON.decode(Ignored.self, from: nested(depth), names: .asDeclared) }
        }
    }

    @Test("Foundation accepts every mutated text that is accepted here", arguments: 0..<8)
    func changed(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array(#"{}[]":,\u0019deE+-. trfalsn/b"#.utf8)
        var read = 0
        for _ in 0..<1_000 {
            var text = try JSON.encode(JSONTree(depth: 3, from: &random), names: .asDeclared)
            for _ in 0...random.below(3) { text[random.below(text.count)] = alphabet[random.below(alphabet.count)] }
            guard (try? JSON.decode(JSONTree.self, from: text, names: .asDeclared)) != nil else { continue }
            read += 1
            #expect(throws: Never.self, "\(String(decoding: text, as: UTF8.self))") {
                try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            }
        }
        #expect(read > 10)
    }

    private struct Ignored: Decodable {
        init(from _: any Decoder) {}
    }
}

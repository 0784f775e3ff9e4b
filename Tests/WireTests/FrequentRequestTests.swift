import Testing

@testable import Wire

/// The reader without `Codable` gives the same results as `Codable`.
struct FrequentRequestTests {
    private static let progress =
        #"{"type":"playout.progress","data":{"track":"TR_AMqpgHxtwLLtpN","epoch":3,"played_ts":289920,"buffered_ms":140.25}}"#

    private static func read(_ text: String) -> IncomingRequest? { FrequentRequestReader.request(in: Array(text.utf8)) }

    @Test(arguments: [
        progress,
        #"{"type":"playout.progress","id":18,"data":{"buffered_ms":0,"epoch":0,"track":"x","played_ts":null}}"#,
        #"{"data":{"track":"TR_A b","epoch":255,"buffered_ms":60000.000000001},"id":0,"type":"playout.progress"}"#,
        "\r\n { \"type\" : \"playout.progress\" ,\t\"data\": { \"track\":\"\" , \"epoch\":1,\"played_ts\":4294967295 ,\"buffered_ms\":0.1 } } ",
        #"{"type":"ping","id":999999999999999999,"data":{"t":123456789012345678}}"#, #"{"type":"ping","id":1}"#,
        #"{"type":"ping","id":1,"data":{}}"#, #"{"data":{"t":0},"type":"ping"}"#,
    ])
    func bothReadersAgree(text: String) throws {
        let found = try #require(Self.read(text))
        let same = IncomingRequest(parsingAny: Array(text.utf8))
        #expect(found.id == same.id && found.content == same.content)
    }

    @Test(arguments: [
        // Other requests, and other forms of these.
        #"{"type":"playout.clear","data":{"track":"x"}}"#, #"{"type":"leave"}"#, #"{"type":"ping","data":{"t":-1}}"#,
        #"{"type":"ping","data":{"t":1.5}}"#, #"{"type":"ping","data":null}"#, #"{"type":"ping","id":null}"#, #"{"type":"pi\u006eg"}"#,
        #"{"type":"ping","data":{"t":1234567890123456789}}"#, #"{"type":"ping","more":1}"#, #"{"type":"ping","type":"ping"}"#,
        progress.replacing("140.25", with: "1e2"), progress.replacing("140.25", with: "-1"), progress.replacing("140.25", with: "0140"),
        progress.replacing("140.25", with: "1."), progress.replacing("140.25", with: "0.1234567890123456"),
        progress.replacing("TR_", with: "TRÄ"), progress.replacing("\"epoch\":3,", with: ""),
        progress.replacing("\"epoch\":3", with: "\"t\":3"),
        progress.replacing("289920", with: "4294967296"), progress.replacing("\"epoch\":3", with: "\"epoch\":256"),
        // Not a request.
        "", "{", "[]", "{}", "{}}", progress + "x", String(progress.dropLast()), String(progress.dropLast(2)) + ",}}",
        #"{"type":"ping",}"#, #"{"type":"ping" "id":1}"#, #"{"type":"ping"#,
    ])
    func otherMessagesFallBackToCodable(text: String) {
        #expect(Self.read(text) == nil)
    }

    /// Seeded, so that what fails once fails again.
    @Test func bothReadersAgreeOnBrokenMessages() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pool = Array(#"{}[]":,.\0123456789eE+- ntrue"#.utf8)
        var count = 0
        for _ in 0..<20_000 {
            var text = Array(Self.progress.utf8)
            for _ in 0...next(2) { text[next(text.count)] = pool[next(pool.count)] }
            guard let found = FrequentRequestReader.request(in: text) else { continue }
            count += 1
            let same = IncomingRequest(parsingAny: text)
            #expect(found.id == same.id && found.content == same.content, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(count > 1_000, "some are whole all the same")
    }
}

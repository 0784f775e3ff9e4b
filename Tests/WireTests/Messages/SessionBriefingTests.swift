import Testing

@testable import Wire

struct SessionBriefingTests {
    private static func summaries(_ count: Int, bytes: Int) -> [PastSummary] {
        (0..<count).map { PastSummary(title: "\($0)", summary: String(repeating: "x", count: bytes), endedAt: 1_800_000_000) }
    }

    private static func byteCount(_ summaries: [PastSummary]) -> Int {
        summaries.map { JSONOutput.bytes(ofBody: $0).count }.reduce(1 + max(summaries.count, 1), +)
    }

    @Test func missingValuesAreAbsent() {
        let bytes = JSONOutput.bytes(ofBody: SessionBriefing(sessionId: "s", context: "phone"))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"session_id":"s","context":"phone"}"#)
    }

    @Test func fiveAreTold() {
        #expect(Self.summaries(7, bytes: 10).fitting().map(\.title) == ["0", "1", "2", "3", "4"])
    }

    @Test("The total size is limited to the byte", arguments: 1...5)
    func limit(count: Int) {
        let empty = Self.byteCount(Self.summaries(count, bytes: 0))
        let room = ProtocolLimits.pastSummariesBytesMax - empty
        var full = Self.summaries(count, bytes: room / count)
        full[0].summary += String(repeating: "x", count: room % count)
        #expect(Self.byteCount(full) == ProtocolLimits.pastSummariesBytesMax)
        #expect(full.fitting() == full)
        full[0].summary += "x"
        #expect(full.fitting() == full.dropLast())
    }

    /// In JSON a control character takes six bytes.
    @Test func itIsTheJSONThatCounts() {
        let loud = PastSummary(title: "", summary: String(repeating: "\u{1}", count: 3_000), endedAt: 0)
        #expect([loud].fitting().isEmpty)
    }

    @Test func summariesStopAtTheFirstThatDoesNotFit() {
        var some = Self.summaries(3, bytes: 10)
        some[1].summary = String(repeating: "x", count: ProtocolLimits.pastSummariesBytesMax)
        #expect(some.fitting().map(\.title) == ["0"])
    }
}

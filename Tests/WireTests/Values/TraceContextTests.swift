import Testing
import Wire

struct TraceContextTests {
    private static let usual = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func fieldIsReadAndWrittenAgain() throws {
        let trace = try #require(TraceContext(traceparent: Self.usual))
        #expect(trace.traceID == "0af7651916cd43dd8448eb211c80319c" && trace.spanID == "b7ad6b7169203331")
        #expect(trace.traceparent == Self.usual)
    }

    @Test func requestOfTheGatewayHasASpanOfItsOwn() throws {
        let trace = try #require(TraceContext(traceparent: Self.usual))
        let spans = Set((0..<100).map { _ in trace.withNewSpan.spanID })
        #expect(spans.count == 100 && !spans.contains(trace.spanID))
        for child in (0..<100).map({ _ in trace.withNewSpan }) {
            #expect(child.traceID == trace.traceID && child.traceparent.hasSuffix("-01"))
            #expect(TraceContext(traceparent: child.traceparent) == child)
        }
    }

    @Test func laterVersionsMayHaveMoreParts() {
        let later = "cc" + Self.usual.dropFirst(2)
        #expect(TraceContext(traceparent: later)?.traceparent == Self.usual)
        #expect(TraceContext(traceparent: later + "-what-the-future-brings")?.traceparent == Self.usual)
        #expect(TraceContext(traceparent: later + "x") == nil)
    }

    @Test(arguments: [
        nil, "", "00", usual.uppercased(), usual + "-", usual + "-00", " " + usual, usual + " ", "ff" + usual.dropFirst(2),
        "0" + usual.dropFirst(2), usual.replacing("0af7651916cd43dd8448eb211c80319c", with: String(repeating: "0", count: 32)),
        usual.replacing("b7ad6b7169203331", with: String(repeating: "0", count: 16)), usual.replacing("b7", with: "b"),
        usual.replacing("b7", with: "bg"), usual.replacing("b7", with: "bé"), String(usual.dropLast()), usual + ", " + usual,
        "cc" + usual.dropFirst(2) + "-" + String(repeating: "x", count: 300),
    ])
    func malformedFieldIsIgnored(_ field: String?) {
        #expect(TraceContext(traceparent: field) == nil)
    }

    @Test func requestWithoutAValidIdentifierGetsOne() {
        #expect(RequestContext(id: "a-Z_0.9:").id == "a-Z_0.9:")
        for id in [nil, "", "a b", "a\n", "é", String(repeating: "x", count: 129)] {
            #expect(RequestContext(id: id).id.utf8.count == 16)
        }
    }
}

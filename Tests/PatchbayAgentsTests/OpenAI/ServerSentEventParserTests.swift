import PatchbayAgents
import Testing
import Wire

struct ServerSentEventParserTests {
    @Test(arguments: [
        ("data: a\n\n", [ServerSentEvent("a")]),
        ("data:a\r\n\r\ndata:b\r\r", [ServerSentEvent("a"), ServerSentEvent("b")]),
        ("data: a\ndata:  b\ndata\n\n", [ServerSentEvent("a\n b\n")]),
        (": comment\n\n:\ndata: a\n: another\n\n", [ServerSentEvent("a")]),
        ("event: error\ndata: x\n\ndata: y\n\n", [ServerSentEvent("x", name: "error"), ServerSentEvent("y")]),
        ("id: 7\nretry: 10\nother: 1\nevent: nothing\n\ndata:\n\n", [ServerSentEvent("")]),
        ("\u{FEFF}data: a\n\n", [ServerSentEvent("a")]),
        ("data: Grüße 世界 👋🏽\n\n", [ServerSentEvent("Grüße 世界 👋🏽")]),
        ("data: last", [ServerSentEvent("last")]), ("data: last\n", [ServerSentEvent("last")]), ("data: last\r", [ServerSentEvent("last")]),
        ("\n\n\r\n\r", []), ("", []), ("data : a\n\nDATA: b\n\n", []),
    ])
    func eventsAreSplitAsSpecifiedWhereverTheBytesAreCut(_ text: String, _ expected: [ServerSentEvent]) throws {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in [first, (first + bytes.count) / 2, bytes.count] {
                var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
                try parser.append(bytes[..<first], to: &events)
                try parser.append(bytes[first..<second], to: &events)
                try parser.append(bytes[second...], to: &events)
                parser.finish(into: &events)
                #expect(events == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test(arguments: 0..<64 as Range<UInt64>) func randomBytesGiveTheSameEventsHoweverTheyAreCut(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("data: event:\n\r\n\r:x\u{FEFF}é".utf8)
        let bytes = (0..<400).map { _ in random.below(8) == 0 ? UInt8(random.below(256)) : alphabet[random.below(alphabet.count)] }
        var (whole, wholeEvents) = (ServerSentEventParser(), [ServerSentEvent]())
        try whole.append(bytes, to: &wholeEvents)
        whole.finish(into: &wholeEvents)
        var (cut, cutEvents, rest) = (ServerSentEventParser(), [ServerSentEvent](), bytes[...])
        while !rest.isEmpty {
            let piece = rest.prefix(random.below(9))
            try cut.append(piece, to: &cutEvents)
            rest = rest.dropFirst(piece.count)
        }
        cut.finish(into: &cutEvents)
        #expect(cutEvents == wholeEvents)
    }

    @Test func anEventMayFillItsLimitButNotExceedIt() throws {
        let longest = Array("data: ".utf8) + [UInt8](repeating: 0x78, count: ServerSentEventParser.eventBytesMax - 8) + Array("\n\n".utf8)
        var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
        try parser.append(longest + longest, to: &events)
        #expect(events.map(\.data.count) == [longest.count - 8, longest.count - 8])
        #expect(throws: ProviderError.self) { try parser.append([0x78] + longest, to: &events) }
        #expect(events.count == 2)
    }

    @Test func aStreamOfSmallEventsEndsAtTheLimitAndDeliversWhatPrecedesIt() {
        let event = Array("data: x\n\n".utf8)
        var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
        let all = (0..<200_000).lazy.flatMap { _ in event }
        #expect(throws: ProviderError.self) { try parser.append(all, to: &events) }
        #expect(events.count == ServerSentEventParser.streamBytesMax / event.count)
    }

    @Test func commentsCountTowardsTheLimitsToo() {
        var (parser, events) = (ServerSentEventParser(), [ServerSentEvent]())
        let comment = Array(": keep-alive\n".utf8)
        #expect(throws: ProviderError.self) {
            try parser.append((0..<6_000).lazy.flatMap { _ in comment }, to: &events)
        }
    }
}

extension ServerSentEvent {
    fileprivate init(_ data: String, name: String = "") {
        self.init(name: name, data: Array(data.utf8))
    }
}

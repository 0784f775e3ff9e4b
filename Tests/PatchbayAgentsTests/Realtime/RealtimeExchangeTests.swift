import Testing
import Wire

@testable import PatchbayAgents

struct RealtimeExchangeTests {
    /// An exchange, a clock, and the effects so far.
    private struct World {
        var exchange = RealtimeExchange()
        var now = Instant(nanoseconds: 0)
        var effects: [RealtimeExchange.Effect] = []
        var session = 0

        mutating func feed(_ inputs: RealtimeExchange.Input...) {
            for input in inputs { exchange.handle(input, at: now, into: &effects) }
        }

        mutating func receive(_ events: RealtimeEvent...) {
            for event in events { feed(.received(session: session, event)) }
        }

        mutating func open() {
            session += 1
            feed(.began, .opened(session: session))
        }

        mutating func wait(_ span: Duration) {
            now = now + span
            feed(.tick)
        }

        /// The effects since the last call.
        mutating func take() -> [RealtimeExchange.Effect] {
            defer { effects = [] }
            return effects
        }
    }

    private static let user = Identity(text: "alice")
    private static let second = [Int16](repeating: 0, count: 24_000)

    private static func says(_ text: String) -> UserMessage { UserMessage(speaker: user, text: text, kind: .speech) }
    private static func presses(_ text: String) -> UserMessage { UserMessage(speaker: user, text: text, kind: .digits) }
    private static func failures(_ effects: [RealtimeExchange.Effect]) -> [ProviderError.Code] {
        effects.compactMap { if case .fail(_, let error) = $0 { error.code } else { nil } }
    }

    private let one = TurnID(1)
    private let two = TurnID(2)

    @Test func aTurnWaitsForTheSession() {
        var world = World()
        world.feed(.began, .respond(one, [Self.says("Hi.")]))
        #expect(world.take() == [.open(session: 1)])
        world.feed(.opened(session: 1))
        #expect(world.take() == [.sendHistory, .append(Self.says("Hi.")), .send(.createResponse)])
    }

    @Test func aResponseIsRequestedOnlyWhenTheCancelledOneHasEnded() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        world.receive(.responseStarted(id: "r"), .audio(item: "a", samples: Self.second))
        _ = world.take()
        world.feed(.abandoned(one), .heard(one, [.milliseconds(400)]), .answered, .respond(two, [Self.says("Stop.")]))
        #expect(world.take() == [.send(.cancelResponse), .send(.truncate(item: "a", played: .milliseconds(400)))])
        // Leftovers of the cancelled response: another item was begun, of which nothing may be remembered.
        world.receive(.audio(item: "a", samples: Self.second), .transcriptDelta(item: "b", "x"), .audio(item: "b", samples: Self.second))
        #expect(world.take().isEmpty)
        world.receive(.responseDone(id: "r", .cancelled))
        #expect(world.take() == [.send(.truncate(item: "b", played: .zero)), .append(Self.says("Stop.")), .send(.createResponse)])
    }

    @Test func whatWasHeardCompletelyIsNotTruncated() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        world.receive(
            .audio(item: "a", samples: Self.second), .audio(item: "b", samples: Self.second), .responseDone(id: "r", .completed))
        _ = world.take()
        world.feed(.abandoned(one), .heard(one, [.seconds(1), .milliseconds(250)]))
        #expect(world.take() == [.send(.truncate(item: "b", played: .milliseconds(250)))])
    }

    @Test func aResponseThatWasNotAudibleIsForgotten() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        world.receive(.audio(item: "a", samples: Self.second))
        _ = world.take()
        world.feed(.abandoned(one), .heard(one, []))
        #expect(world.take() == [.send(.cancelResponse), .send(.truncate(item: "a", played: .zero))])
    }

    @Test func whatTheSessionHasIsNotSentAgain() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi."), Self.presses("1")]), .abandoned(one), .heard(one, []))
        world.receive(.responseDone(id: "r", .cancelled))
        _ = world.take()
        world.feed(.respond(two, [Self.says("Hi."), Self.presses("12"), Self.says("Yes.")]))
        #expect(world.take() == [.append(Self.presses("2")), .append(Self.says("Yes.")), .send(.createResponse)])
        world.receive(.audio(item: "a", samples: Self.second), .responseDone(id: "r", .completed))
        // The same words after an answer are new.
        world.feed(.answered, .respond(TurnID(3), [Self.says("Hi.")]))
        #expect(world.take().suffix(2) == [.append(Self.says("Hi.")), .send(.createResponse)])
    }

    @Test func aSessionThatDoesNotEndACancelledResponseIsReplaced() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]), .abandoned(one), .heard(one, []), .respond(two, [Self.says("Hi.")]))
        _ = world.take()
        world.wait(.milliseconds(1_900))
        world.receive(.audio(item: "a", samples: Self.second))
        #expect(world.take().isEmpty)
        world.wait(.milliseconds(200))
        #expect(world.take() == [.close, .open(session: 2)])
        world.feed(.opened(session: 2))
        #expect(world.take() == [.sendHistory, .append(Self.says("Hi.")), .send(.createResponse)])
        // The old session's events are ignored.
        world.receive(.audio(item: "a", samples: Self.second))
        #expect(world.take().isEmpty)
    }

    @Test func aSessionThatStallsInASpokenResponseFailsTheTurn() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        world.receive(.audio(item: "a", samples: Self.second))
        world.wait(.seconds(9))
        world.receive(.audio(item: "a", samples: Self.second))
        _ = world.take()
        world.wait(.seconds(9))
        #expect(world.take().isEmpty)
        world.wait(.seconds(2))
        let effects = world.take()
        #expect(effects.first == .close && Self.failures(effects) == [.timeout])
    }

    @Test func aSessionIsReplacedOnceForATurn() {
        var world = World()
        world.open()
        let lost = ProviderError(.disconnected, "test")
        world.feed(.respond(one, [Self.says("Hi.")]), .lost(session: 1, lost))
        #expect(world.take().suffix(2) == [.close, .open(session: 2)])
        world.feed(.opened(session: 2), .lost(session: 2, lost))
        #expect(Self.failures(world.take()) == [.disconnected])
        world.feed(.respond(two, [Self.says("Hi.")]))
        #expect(world.take() == [.open(session: 3)])
        world.feed(.openingFailed(session: 3, lost))
        #expect(Self.failures(world.take()) == [.disconnected])
    }

    @Test func toolsAreNotRunAgainAfterALoss() {
        var world = World()
        world.open()
        let call = ToolCall(id: "c", name: "buy", arguments: "{}")
        world.feed(.respond(one, [Self.says("Buy it.")]))
        world.receive(.toolCall(call), .responseDone(id: "r", .completed))
        #expect(world.take().last == .run(one, [call]))
        let result = RealtimeExchange.ToolResult(call: "c", text: "bought")
        world.feed(.toolsFinished(one, [result]))
        #expect(world.take() == [.send(.appendToolResult("bought", call: "c")), .send(.createResponse)])
        world.feed(.lost(session: 1, ProviderError(.disconnected, "test")))
        #expect(Self.failures(world.take()) == [.disconnected])
    }

    @Test func toolsWithoutEndFailTheTurn() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        for _ in 0..<RealtimeExchange.roundsMax {
            world.receive(.toolCall(ToolCall(id: "c", name: "n", arguments: "{}")), .responseDone(id: "r", .completed))
            world.feed(.toolsFinished(one, []))
        }
        let effects = world.take()
        #expect(
            Self.failures(effects) == [.invalidResponse]
                && effects.count(where: { $0 == .send(.createResponse) }) == RealtimeExchange.roundsMax)
    }

    @Test(arguments: [
        [RealtimeEvent.transcriptDelta(item: "a", "Text only."), .responseDone(id: "r", .completed)],
        [.responseDone(id: "", .failed(ProviderError(.invalidResponse, "refused")))], [.responseDone(id: "r", .cancelled)],
        [.audio(item: "a", samples: [1]), .transcriptDelta(item: "a", String(repeating: "x", count: RealtimeExchange.charactersMax + 1))],
    ])
    func aResponseThatCannotBeSpokenFailsTheTurn(_ events: [RealtimeEvent]) {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Hi.")]))
        for event in events { world.receive(event) }
        #expect(Self.failures(world.take()) == [.invalidResponse])
    }

    @Test func aResponseThatOnlyEndsTheCallIsComplete() {
        var world = World()
        world.open()
        world.feed(.respond(one, [Self.says("Bye.")]))
        world.receive(.endCall, .responseDone(id: "r", .completed))
        #expect(world.take().suffix(2) == [.endCall(one), .complete(one)])
    }

    @Test func aResponseThatNobodyAskedForIsCancelled() {
        var world = World()
        world.open()
        _ = world.take()
        world.receive(.responseStarted(id: "r"), .audio(item: "a", samples: Self.second), .responseDone(id: "r", .cancelled))
        #expect(world.take() == [.send(.cancelResponse), .send(.truncate(item: "a", played: .zero))])
    }
}

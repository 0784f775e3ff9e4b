import Testing
import Wire

@testable import PatchbayAgents

/// An assistant whose room continues on another node, which does not have what was not played of its speech.
@Suite(.timeLimit(.minutes(5)))
struct LostQueueTests {
    private static let words = (1...60).map { "word\($0)" }

    private static func call() -> FakeCall {
        let responder = ScriptedResponder { _ in [.text(words.joined(separator: " ") + ".")] }
        return FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: responder, synthesizer: ToneSynthesizer()))
    }

    @Test func theRestIsSaidAgain() async throws {
        let call = Self.call()
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Say many words."))
            try await call.until { call.room.isPlaying }
            try await call.wait(.seconds(3))
            let heard = call.room.discard()
            // The room is lost for a moment.
            try await call.wait(.milliseconds(400))
            await call.pipeline.take(.queueLost(heard.playedTs.map { MediaTime(ticks: $0) }))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            let rest = try #require(call.room.current.segments.last?.text.split(separator: " "))
            // Five words a second.
            #expect(rest.last == "word60." && abs(heard.playedMs / 200 + rest.count - 60) <= 1, "\(heard), then \(rest)")
            let played = call.room.current.played
            #expect(played.count == 2)
            let total = played.reduce(0) { $0 + $1.ticks } / 960 * 20
            #expect(abs(total - 60 * 200) <= 200, "\(total) ms were played, each word once")
        }
    }

    @Test func whatWasPlayedCompletelyIsNotRepeated() async throws {
        let call = Self.call()
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Say many words."))
            try await call.until { call.room.isPlaying }
            try await call.until { !call.room.isPlaying }
            // The end of playout is not reported any more.
            let end = await call.room.voicePosition()
            _ = call.room.discard()
            await call.pipeline.take(.queueLost(end))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            #expect(call.room.current.played.count == 1)
        }
    }

    @Test func nothingIsSaidAfterTheEndOfATurn() async throws {
        let call = Self.call()
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Say many words."))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            await call.pipeline.take(.queueLost(nil))
            try await call.wait(.seconds(2))
            #expect(call.room.current.played.count == 1 && call.room.current.clears == 0)
        }
    }
}

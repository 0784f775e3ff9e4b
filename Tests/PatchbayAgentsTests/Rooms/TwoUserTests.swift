import Testing
import Wire

@testable import PatchbayAgents

/// Two users talk with one assistant.
@Suite(.timeLimit(.minutes(5)))
struct TwoUserTests {
    private static let bob = Identity(text: "bob")
    private static let bobsMicrophone = TrackInfo(
        sid: TrackSID(text: "TR_bob"), alias: TrackAlias(2), participant: bob, description: PublishTrack(name: "mic"))

    private let responder: ScriptedResponder
    private let call: FakeCall

    init() {
        responder = ScriptedResponder { _ in [.text("One two three four five six seven eight nine ten.")] }
        // In the order in which the utterances begin.
        let heard = ScriptedRecognizer(["What time is it?", "And what day is it?", "Thank you very much for that."])
        call = FakeCall(AgentEngines(detector: LevelDetectors(), recognizer: heard, responder: responder, synthesizer: ToneSynthesizer()))
    }

    /// Runs the call with both users in it.
    private func run(_ body: @Sendable () async throws -> Void) async throws {
        try await call.run {
            await call.pipeline.take(.userJoined(Self.bob, name: "Bob"))
            await call.pipeline.take(.microphone(Self.bobsMicrophone))
            try await body()
        }
    }

    /// What each user said, in the order of the ends.
    private var finals: [String] {
        call.room.current.segments.filter { $0.role == .user && $0.final }
            .map { "\($0.participant?.text ?? "?") in \($0.track?.text ?? "?"): \($0.text)" }
    }

    private var isAnswered: Bool { call.room.current.segments.last?.spoken == .completed }

    @Test func eachUsersSpeechIsAttributedAndOneAnswerAddressesBoth() async throws {
        try await run {
            let next = try await call.says(for: .milliseconds(1_200), thenSilence: .zero, from: 0)
            try await call.say(
                .init(speech: .milliseconds(800), silence: .milliseconds(2_500), start: next),
                .init(track: Self.bobsMicrophone, speech: .milliseconds(2_000), silence: .milliseconds(1_300)))
            try await call.until { isAnswered }
        }
        #expect(finals == ["alice in TR_mic: What time is it?", "bob in TR_bob: And what day is it?"])
        #expect(responder.conversations.map(\.messages) == [[.user("What time is it?\nBob: And what day is it?")]])
        #expect(call.room.current.states == [.listening, .thinking, .speaking, .listening])
    }

    @Test func aUserWhoIsMutedWhileSpeakingDoesNotEndTheOthersUtterance() async throws {
        try await run {
            var next = try await call.says(for: .milliseconds(1_200), thenSilence: .zero, from: 0)
            next = try await call.say(
                .init(speech: .milliseconds(2_000), start: next), .init(track: Self.bobsMicrophone, speech: .milliseconds(2_000)))[0]
            await call.pipeline.take(.microphonePaused(Self.bobsMicrophone.sid))
            next = try await call.says(for: .milliseconds(600), thenSilence: .zero, from: next)
            #expect(finals == ["bob in TR_bob: And what day is it?"])
            #expect(responder.conversations.isEmpty, "Alice is still speaking")
            _ = try await call.says(for: .milliseconds(700), thenSilence: .milliseconds(1_500), from: next)
            try await call.until { isAnswered }
        }
        #expect(finals.last == "alice in TR_mic: What time is it?" && finals.count == 2)
        #expect(responder.conversations.map(\.messages) == [[.user("And what day is it?\nAlice: What time is it?")]])
        #expect(call.room.current.clears == 0)
    }

    @Test func aUserWhoLeavesDoesNotStopTheAnswerToTheOther() async throws {
        try await run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.isPlaying }
            await call.pipeline.take(.microphoneEnded(Self.bobsMicrophone.sid))
            await call.pipeline.take(.userLeft(Self.bob, mayReturn: false))
            try await call.until { isAnswered }
            #expect(call.room.current.clears == 0)
            #expect(call.room.current.segments.last?.text == "One two three four five six seven eight nine ten.")
            // The call goes on with the user who stays.
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: next)
            try await call.until { responder.conversations.count == 2 }
        }
        #expect(finals == ["alice in TR_mic: What time is it?", "alice in TR_mic: And what day is it?"])
    }

    @Test func aUserWhoLeavesWhileSpeakingDoesNotHoldUpTheAnswer() async throws {
        try await run {
            let next = try await call.says(for: .milliseconds(1_200), thenSilence: .zero, from: 0)
            try await call.say(
                .init(speech: .milliseconds(300), silence: .milliseconds(1_700), start: next),
                .init(track: Self.bobsMicrophone, speech: .milliseconds(2_000)))
            #expect(responder.conversations.isEmpty, "Bob is still speaking")
            await call.pipeline.take(.userLeft(Self.bob, mayReturn: false))
            try await call.until { isAnswered }
        }
        #expect(finals.count == 2 && responder.conversations.count == 1)
        #expect(responder.conversations.first?.messages == [.user("What time is it?\nBob: And what day is it?")])
    }
}

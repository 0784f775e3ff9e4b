import Audio
import Backend
import Foundation
import Identity
import Logging
import PatchbayClient
import Store
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// The voice and language that users of a real gateway hear after choosing them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ChosenVoiceTests {
    private static let greeting = "The weather tomorrow will be sunny, with a light wind from the north."

    private static func worker(_ node: WorkerGateway, _ synthesizer: any SpeechSynthesizer) async throws -> TestWorker {
        let engines = EmbeddedEngines(detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), synthesizer: synthesizer)
        let agent = VoiceAgent(engines: engines, tokens: { try WorkerGateway.assistantToken("helper") }, logger: Logger(label: "test"))
        return try await TestWorker(node, handler: { try await agent.converse($0) }).registered()
    }

    /// Returns a user with settings, in a session with the assistant.
    private static func caller(
        _ node: WorkerGateway, _ name: String, voice: String? = nil, language: String? = nil, session: SessionRequest? = nil
    ) async throws -> RoomConnection {
        let user = try await node.user(name)
        _ = try await #require(node.backend).store.accounts.updateSettings(of: user) { ($0.voice, $0.language) = (voice, language) }
        let ticket = try await node.startSession(of: user, assistant: "helper", session)
        return try await RoomConnection.connect(url: node.url, token: ticket.token, options: WorkerGateway.options)
    }

    /// Returns the greeting as a user hears it, at the recognizer's sample rate.
    private static func heard(by room: RoomConnection) async throws -> [Float] {
        var decoder = try OpusDecoder(sampleRate: SpeechSegment.sampleRate)
        let track = try await room.first { event in event.newTracks.first { $0.participant.text == "assistant:helper" }?.sid }
        let frames = room.frames(of: track)
        let isOver = Flag()
        let watcher = Task {
            for await event in room.events {
                if case .gateway(.playoutFinished(track, _, _, _), _) = event { isOver.raise() }
            }
        }
        defer { watcher.cancel() }
        let leaving = Task {
            try await eventually("the end of the greeting") { isOver.isRaised }
            await room.leave()
        }
        var pcm: [Int16] = []
        for await frame in frames { pcm += try decoder.decode(frame.packet) }
        try await leaving.value
        return pcm.map { Float($0) / 32_768 }
    }

    @Test func twoUsersWithDifferentVoicesHearDifferentSpeech() async throws {
        let synthesizer = EmbeddedSynthesizer(try await Embedded.hibari(), firstAudioMax: .seconds(60), logger: Logger(label: "test"))
        let definition = AssistantDefinition(id: "helper", greetings: [Self.greeting], voice: "alloy")
        try await WorkerGateway.run(withStore: true, definition: { _ in definition }) { node in
            let worker = try await Self.worker(node, synthesizer)
            let ann = Voice(try await Self.heard(by: try await Self.caller(node, "ann", voice: "onyx")))
            let bob = Voice(try await Self.heard(by: try await Self.caller(node, "bob", voice: "nova")))
            let eve = Voice(try await Self.heard(by: try await Self.caller(node, "eve")))
            // Measured pitches of the voices: onyx about 95 Hz, nova 225 Hz, alloy 200 Hz.
            #expect(ann.pitch < 120, "onyx has \(ann.pitch) Hz")
            #expect(bob.pitch > 205, "nova has \(bob.pitch) Hz")
            #expect((175.0...220.0).contains(eve.pitch), "the assistant's own voice has \(eve.pitch) Hz")
            #expect(log2(bob.pitch / ann.pitch) * 12 > 10, "in semitones; a listener notices one")
            try await worker.stop()
        }
        #expect(synthesizer.fallbackCount == 0)
    }

    /// Records the voices of the greeting.
    private final class VoiceNotes: SpeechSynthesizer {
        private let noted = Mutex<[String]>([])
        var voices: [String] { noted.withLock { $0 } }

        func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
            noted.withLock { $0.append(voice) }
            return ToneSynthesizer().synthesize(text, voice: voice)
        }
    }

    @Test func aSessionsVoicePrecedesItsUsersVoice() async throws {
        let notes = VoiceNotes()
        let definition = AssistantDefinition(id: "helper", greetings: ["Good day."], voice: "echo")
        try await WorkerGateway.run(withStore: true, definition: { _ in definition }) { node in
            let worker = try await Self.worker(node, notes)
            let request = SessionRequest(context: "phone", assistantID: "helper", voice: "fable")
            _ = try await Self.heard(by: try await Self.caller(node, "ann", voice: "onyx", session: request))
            _ = try await Self.heard(by: try await Self.caller(node, "bob", voice: "onyx"))
            _ = try await Self.heard(by: try await Self.caller(node, "eve", voice: "no such voice"))
            // The claims of a development session's token.
            var claims = AccessToken(identity: "dev", expires: WorkerGateway.nowSeconds + 600, video: .joining("dev"))
            claims.attributes = ["patchbay.voice": "shimmer"]
            claims.roomSettings = TokenRoomSettings(agents: [TokenAgent(agentName: "helper")])
            let token = try WorkerGateway.sign(claims)
            _ = try await Self.heard(by: try await RoomConnection.connect(url: node.url, token: token, options: WorkerGateway.options))
            try await worker.stop()
        }
        #expect(notes.voices == ["fable", "onyx", "echo", "shimmer"])
    }

    @Test func aGermanSessionIsGreetedInGermanByAProviderAndInEnglishByTheEmbeddedVoice() async throws {
        let port = try await OpenAIEmulator.shared().port
        let provider = ProviderSettings(baseUrl: "http://127.0.0.1:\(port)/v1", model: "ok")
        for (providers, greeting) in [
            (AssistantProviders(recognizer: provider, responder: provider, synthesizer: provider), "Hallo. Wie kann ich helfen?"),
            (AssistantProviders(), "Good day. \(AssistantPhrases().speaksOnlyEnglish)"),
        ] {
            let definition = AssistantDefinition(id: "helper", greetings: ["Good day."], providers: providers)
            try await WorkerGateway.run(withStore: true, definition: { _ in definition }) { node in
                let worker = try await Self.worker(node, ToneSynthesizer())
                let ann = try await Self.caller(node, "ann", language: "de")
                let said = try await ann.first { event -> TranscriptSegment? in
                    guard case .gateway(.segment(let segment), _) = event, segment.spoken == .completed else { return nil }
                    return segment
                }
                #expect(said.text == greeting && said.language == (providers.synthesizer == nil ? "en" : "de"))
                await ann.leave()
                try await worker.stop()
            }
        }
    }
}

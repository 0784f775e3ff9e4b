import ArgumentParser
import Audio
import Foundation
import OggOpus
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

struct AgentConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Talk to an assistant in this terminal, without a gateway.",
        discussion: """
            Without options, each line typed is said to the assistant, until the end of input or until it ends the call. --play speaks a
            recording instead, and --say a text.

            EXAMPLES
              patchbay agent console
              patchbay agent console --say "What time is it?"
              patchbay agent console --play hello.wav --record answer.ogg --json
            """)

    @Option(help: "A WAV file that the user speaks.")
    var play: String?
    @Option(help: "A text that the user types.")
    var say: String?
    @Option(help: "Record the assistant to this Ogg Opus file.")
    var record: String?
    @Flag(help: "Print what is said, and the assistant's delays, as lines of JSON.")
    var json = false

    /// How long the assistant may take to begin an answer.
    private static let patience = Duration.seconds(20)

    func run() async throws {
        LogSettings.startWithErrorsOnly()
        let sound = try play.map(PCMBuffer.init(wavFile:))
        let definition = AssistantDefinition(id: "default", name: "the Patchbay assistant")
        let engines = try await EmbeddedEngines.load().engines(for: definition)
        let state = Mutex((current: AgentState.initializing, answers: 0))
        let conversation = LocalConversation(definition, engines: engines) { event in
            switch event {
            case .transcript(let segment):
                if segment.final, segment.spoken == nil { say(segment) }
            case .state(let new):
                state.withLock { state in
                    if state.current == .speaking, new != .speaking { state.answers += 1 }
                    state.current = new
                }
            case .message(.turnMetrics(let metrics)): say(metrics)
            case .message: break
            }
        }
        async let running: Void = conversation.run()
        if let sound { try await conversation.play(sound) }
        if let say { await conversation.type(say) }
        if sound == nil, say == nil {
            for await line in Self.lines() where !line.isEmpty { await conversation.type(line) }
        }
        let end = MediaClock.now + Self.patience
        while state.withLock({ $0.answers == 0 || $0.current != .listening }), MediaClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        await conversation.end()
        await running
        if let record { try OggOpusWriter.write(conversation.spoken, OpusHead(channels: 1), to: record) }
        guard state.withLock({ $0.answers > 0 }) else { throw ExitCode.failure }
    }

    private func say(_ segment: TranscriptSegment) {
        struct Spoken: Encodable {
            var role: String
            var text: String
        }
        let (role, text) = (segment.role.rawValue, segment.text)
        Console.say(json ? EventJSON.line("transcript", Spoken(role: role, text: text)) : "\(role): \(text)")
    }

    private func say(_ metrics: TurnMetrics) {
        Console.say(json ? EventJSON.line("turn.metrics", metrics) : "  (\(metrics.firstAudioMs ?? 0) ms to the first audio)")
    }

    /// Lines of standard input. Read on a thread of its own, because reading blocks.
    private static func lines() -> AsyncStream<String> {
        let (lines, sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1_000))
        Thread.detachNewThread {
            while let line = readLine() { sink.yield(line) }
            sink.finish()
        }
        return lines
    }
}

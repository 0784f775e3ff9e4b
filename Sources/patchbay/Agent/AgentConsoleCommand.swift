import ArgumentParser
import Audio
import Foundation
import OggOpus
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire
import YAMLSettings

struct AgentConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Talk to an assistant in this terminal, without a gateway.",
        discussion: """
            Without options, each line typed is said to the assistant, until the end of input or until it ends the call. A line typed during
            an answer interrupts it; lines pasted or piped together are answered one after the other. --play speaks a recording instead, and
            --say a text. --config takes the assistant from the configuration of `serve`, without its tools, which need a gateway.

            EXAMPLES
              patchbay agent console
              patchbay agent console --config patchbay.yaml --assistant shop
              patchbay agent console --say "What time is it?"
              patchbay agent console --play hello.wav --record answer.ogg --json
            """)

    @Option(help: ArgumentHelp("A configuration file of `serve` that defines the assistant.", valueName: "FILE"))
    var config: String?
    @Option(help: "The assistant's id. Default: the only one of --config, otherwise default.")
    var assistant: String?
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp("A secret that the assistant's providers may use, as of `agent start`. Repeatable.", valueName: "NAME[=FILE]"))
    var secrets: [String] = []
    @Option(help: "A WAV file that the user speaks.")
    var play: String?
    @Option(help: "A text that the user types.")
    var say: String?
    @Option(help: "Record the assistant to this Ogg Opus file.")
    var record: String?
    @Flag(help: "Print what is said, and the assistant's delays, as lines of JSON.")
    var json = false

    /// Lines that follow each other faster were not typed.
    private static let typingGap = Duration.milliseconds(100)

    func run() async throws {
        LogSettings.startWithErrorsOnly()
        let definition = try definition()
        let sound = try play.map(PCMBuffer.init(wavFile:))
        let engines = try await EmbeddedEngines.load(secrets: try SecretOptions.read(secrets)).engines(for: definition)
        let progress = ConsoleProgress()
        let conversation = LocalConversation(definition, engines: engines) { event in
            switch event {
            case .transcript(let segment):
                if segment.final, segment.spoken == nil { say(segment) }
            case .state(let state): progress.take(state)
            case .message(.turnMetrics(let metrics)): say(metrics)
            case .message: break
            }
        }
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await conversation.run() }
            group.addTask {
                try await converse(conversation, sound, progress)
                await conversation.end()
            }
            // The assistant may end the call while there is more input.
            _ = await group.nextResult()
            group.cancelAll()
        }
        if let record { try OggOpusWriter.write(conversation.spoken, OpusHead(channels: 1), to: record) }
        guard progress.answers > 0 else { throw ExitCode.failure }
    }

    /// - Throws: `UsageError` or `ConfigurationError` if there is no such assistant.
    func definition() throws -> AssistantDefinition {
        let defined = try config.map { try ConfigurationFile(path: $0).assistants() } ?? []
        let id = assistant ?? (defined.count == 1 ? defined[0].id : "default")
        if let definition = defined.first(where: { $0.id == id }) { return definition }
        guard id == "default" else {
            let ids = (defined.map(\.id) + ["default"]).joined(separator: ", ")
            throw UsageError("there is no assistant \"\(id)\"; use one of \(ids), or define it in `assistants` of --config")
        }
        return AssistantDefinition(id: id, name: "the Patchbay assistant")
    }

    /// Plays the user, and waits for the last answer.
    private func converse(_ conversation: LocalConversation, _ sound: PCMBuffer?, _ progress: ConsoleProgress) async throws {
        if let sound { try await conversation.play(sound) }
        if let say { await conversation.type(say) }
        if sound == nil, say == nil {
            var last: Instant?
            for await line in Self.lines() where !line.text.isEmpty {
                if let last, line.readAt - last < Self.typingGap { try await progress.wait { $0.isAnswering } }
                last = line.readAt
                await conversation.type(line.text)
            }
        }
        try await progress.wait { $0.answers == 0 || $0.isAnswering }
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

    private struct Line: Sendable {
        let text: String
        let readAt = MediaClock.now

        init(_ bytes: Data) { text = String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self) }
    }

    /// Lines of standard input. Read on a thread of its own, because reading blocks.
    private static func lines() -> AsyncStream<Line> {
        let (lines, sink) = AsyncStream.makeStream(of: Line.self, bufferingPolicy: .bufferingOldest(1_000))
        Thread.detachNewThread {
            // Not with readLine(), whose lock exit(3) waits for since glibc 2.41: the command would end with the next line only.
            var rest = Data()
            while case let data = FileHandle.standardInput.availableData, !data.isEmpty {
                let lines = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                for line in lines.dropLast() { sink.yield(Line(line)) }
                rest = lines.last.map { Data($0) } ?? Data()
            }
            if !rest.isEmpty { sink.yield(Line(rest)) }
            sink.finish()
        }
        return lines
    }
}

/// The states of the assistant of a console.
private final class ConsoleProgress: Sendable {
    struct State: Sendable {
        var agent = AgentState.initializing
        /// Answers, and other speech, that have ended.
        var answers = 0

        var isAnswering: Bool { agent == .thinking || agent == .speaking }
    }

    /// How long the assistant may take to begin an answer.
    private static let patience = Duration.seconds(20)

    private let state = Mutex(State())

    var answers: Int { state.withLock { $0.answers } }

    func take(_ new: AgentState) {
        state.withLock { state in
            if state.agent == .speaking, new != .speaking { state.answers += 1 }
            state.agent = new
        }
    }

    /// - Throws: `CancellationError`.
    func wait(while isBusy: (State) -> Bool) async throws {
        var end = MediaClock.now + Self.patience
        while true {
            let now = state.withLock { $0 }
            guard isBusy(now), MediaClock.now < end else { return }
            if now.agent == .speaking { end = MediaClock.now + Self.patience }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

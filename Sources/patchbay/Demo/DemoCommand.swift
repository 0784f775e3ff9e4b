import ArgumentParser
import Audio
import Backend
import Foundation
import PatchbayAgents
import PatchbayClient
import UnixSignals
import Wire

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a conversation between a recorded user and an assistant through a gateway.",
        discussion: """
            Starts a gateway on a free loopback port, with the development certificate and a data folder of its own. An assistant and a user
            join over TLS. The user speaks three recordings; the assistant listens, answers in a synthesized voice, and both sides are saved as a stereo
            file. Needs the speech models; without them the relay is demonstrated instead.

            In a terminal the gateway then stays up, and the last lines say at which address the playground, a web page, calls the assistant.

            With --relay, a user sends a recording to an echo assistant. Prints latencies, and compares the returned audio with what was sent.

            Exit code 0 only if each recording was answered, or with --relay, if all packets returned unchanged.

            EXAMPLES
              patchbay demo
              patchbay demo --stay > demo.log
              patchbay demo --relay --recording hello.wav
            """)

    @Flag(help: "Demonstrate the relay: a user sends a recording to an echo assistant, packet for packet.")
    var relay = false
    @Option(help: "The WAV file that the user sends with --relay (default: one of the recordings).")
    var recording: String?
    @Flag(inversion: .prefixedNo, help: "Stay up for calls from the playground until Ctrl-C (default: in a terminal).")
    var stay: Bool?
    @Option(help: "The Ogg Opus file for the conversation, or for what the user receives with --relay.")
    var out: String?

    func validate() throws {
        if relay, stay == true { throw ValidationError("--stay: the relay has no assistant to talk to; omit --relay or --stay") }
    }

    func run() async throws {
        LogSettings.startWithErrorsOnly()
        if !relay, let problem = ModelsFolder.standard.problem {
            Console.say("The assistant cannot speak: \(problem)\nThis is the relay instead:")
            return try await demonstrateRelay()
        }
        try await relay ? demonstrateRelay() : demonstrateConversation()
    }

    private func demonstrateConversation() async throws {
        let path = try outputPath("out/demo-conversation.ogg")
        let recordings = try DemoRecordings()
        let sounds = try DemoRecordings.conversation.map(recordings.sound)
        Console.say("Loading the speech models.")
        let engines = try await EmbeddedEngines.load()
        try await DemoGateway.run(assistants: [ConversationDemo.assistant]) { gateway in
            Console.say("Gateway running at \(gateway.url).")
            let report = try await ConversationDemo(gateway: gateway, engines: engines, sounds: sounds, path: path).run()
            Console.say(report.text)
            if !report.isComplete { throw ExitCode.failure }
            guard stays else { return Console.say("To talk to the assistant yourself: \(CommandLine.arguments[0]) demo --stay") }
            try await PageDemo(gateway: gateway, engines: engines).run()
        }
    }

    private var stays: Bool { stay ?? (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) }

    private func demonstrateRelay() async throws {
        let path = try outputPath("out/demo-heard.ogg")
        let sound = try recording.map(PCMBuffer.init(wavFile:)) ?? DemoRecordings().sound(DemoRecordings.relay)
        let report = try await DemoGateway.run { gateway in
            Console.say("Gateway running at \(gateway.url).")
            return try await DemoCall(gateway: gateway, sound: sound, path: path).run()
        }
        Console.say(report.text)
        if !report.isPerfect { throw ExitCode.failure }
    }

    private func outputPath(_ standard: String) throws -> String {
        let path = out ?? standard
        let directory = URL(filePath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw UsageError("cannot create the directory \(directory.path); pass a file in another one with --out")
        }
        return path
    }
}

/// The end of the demonstration: the gateway stays up with an assistant, to be called from the playground.
struct PageDemo: Sendable {
    let gateway: DemoGateway
    let engines: EmbeddedEngines

    /// Serves until SIGINT or SIGTERM, which end running conversations, too.
    ///
    /// - Throws: if the assistant cannot register.
    func run() async throws {
        let worker = gateway.worker(of: AssistantDefinition.builtIn.id, speakingWith: engines)
        // Each task tells whether its end is the demonstration's.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await worker.run()
                return true
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break }
                return true
            }
            group.addTask {
                if await worker.registered() { Console.say(invitation) }
                return false
            }
            for try await isOver in group where isOver { group.cancelAll() }
        }
    }

    private var invitation: String {
        """
        Talk to the assistant yourself, with a headset or speakers and a microphone:

          \(gateway.pageURL)

        The browser asks about the development certificate: accept it. Ctrl-C ends the gateway.
        """
    }
}

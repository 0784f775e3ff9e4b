import ArgumentParser
import Foundation
import Identity
import Logging
import PatchbayAgents
import PatchbayClient
import UnixSignals
import Wire

struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Run a voice assistant.",
        discussion: """
            An assistant process takes jobs from a gateway and speaks with the users of their rooms. It recognizes and synthesizes speech
            itself (`make models` installs the models), or with the providers in the assistant's configuration.

            EXAMPLES
              patchbay agent start --dev
              patchbay dispatch create --dev --room lobby --assistant default
              patchbay agent start --url wss://voice.example --assistant helper
              patchbay agent console --say "What time is it?"
              patchbay agent measure words --recordings speech
            """,
        subcommands: [AgentStartCommand.self, AgentDevCommand.self, AgentConsoleCommand.self, AgentMeasureCommand.self],
        defaultSubcommand: AgentStartCommand.self)
}

/// What `start` and `dev` have in common.
struct AgentOptions: ParsableArguments {
    @Option(help: "The assistant's id.")
    var assistant = "default"
    @Option(help: "Conversations at once, 1 to 1000. Fewer are taken while the CPU is busy.")
    var capacity = 10
    @Option(name: .customLong("drain-timeout"), help: "Seconds that SIGTERM waits for conversations to end.")
    var drainTimeout = 600
    @OptionGroup var key: APIKeyOptions

    func validate() throws {
        guard 1...1_000 ~= capacity else { throw ValidationError("--capacity \(capacity): pass 1 to 1000") }
        guard 0...86_400 ~= drainTimeout else { throw ValidationError("--drain-timeout \(drainTimeout): pass 0 to 86400 seconds") }
    }

    /// Serves until SIGINT or SIGTERM, then drains; a second signal ends the process at once.
    func run(url: String, trust: TLSTrust, logLevel: Logger.Level) async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = logLevel
            return handler
        }
        let tokens = try tokenSource()
        let engines = try await EmbeddedEngines.load()
        let agent = VoiceAgent(engines: engines, tokens: tokens)
        let settings = AgentWorkerSettings(
            url: url, assistant: assistant, capacity: capacity, options: RoomOptions(trust: trust), drainTimeout: .seconds(drainTimeout))
        let worker = AgentWorker(settings: settings, tokens: tokens) { try await agent.converse($0) }
        Console.say("Assistant \(assistant) ready for \(url).")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.run() }
            group.addTask {
                var hasDrained = false
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                    if hasDrained { Foundation.exit(1) }
                    hasDrained = true
                    Console.say("Draining; running conversations continue.")
                    Task { await worker.drain() }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Signs tokens of the assistant, an hour each.
    private func tokenSource() throws -> UserTokenSource {
        let signer = try key.signer()
        let identity = "assistant:\(assistant)"
        return {
            let now = Int64(Date().timeIntervalSince1970)
            var grant = VideoGrant()
            grant.agent = true
            let claims = AccessToken(identity: identity, notBefore: now - 5, expires: now + 3_600, kind: .agent, video: grant)
            return try TokenMinter.mint(claims, with: signer)
        }
    }
}

struct AgentStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Take jobs from a gateway.",
        discussion: """
            EXAMPLES
              patchbay agent start --dev
              patchbay agent start --url wss://voice.example --assistant helper \\
                  --api-key KEY --api-secret SECRET --capacity 20
            """)

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var options: AgentOptions

    func run() async throws {
        try await options.run(url: gateway.url, trust: try gateway.trust(), logLevel: .info)
    }
}

struct AgentDevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Take jobs from a development gateway, with detailed logs.",
        discussion: "The same as `start --dev`, and logs each message that could not be delivered.")

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var options: AgentOptions

    func run() async throws {
        var gateway = gateway
        gateway.dev = true
        try await options.run(url: gateway.url, trust: try gateway.trust(), logLevel: .debug)
    }
}

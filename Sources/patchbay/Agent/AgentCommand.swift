import ArgumentParser
import Backend
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
            itself (`make models` installs the models), or with the providers in the assistant's configuration. Their API keys are secrets
            that the process lists with --secret; a configuration that names another one fails its calls.

            EXAMPLES
              patchbay agent start --dev
              patchbay dispatch create --dev --room lobby --assistant default
              patchbay agent start --url wss://voice.example --assistant helper \\
                  --secret LLM_KEY
              patchbay agent console --say "What time is it?"
              patchbay agent measure words --recordings speech
              patchbay agent evaluate scenarios.yaml --html report.html
            """,
        subcommands: [
            AgentStartCommand.self, AgentDevCommand.self, AgentConsoleCommand.self, AgentMeasureCommand.self, AgentEvaluateCommand.self,
        ],
        defaultSubcommand: AgentStartCommand.self)
}

/// Options that `start` and `dev` share.
struct AgentOptions: ParsableArguments {
    @Option(help: "The assistant's id.")
    var assistant = "default"
    @Option(help: "Conversations at once, 1 to 1000. Fewer are taken while the CPU is busy.")
    var capacity = 10
    @Option(name: .customLong("drain-timeout"), help: "Seconds that SIGTERM waits for conversations to end.")
    var drainTimeout = 600
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp(
            "A secret that the assistant's providers may use (api_key_env): an environment variable, or a file. Repeatable.",
            valueName: "NAME[=FILE]"))
    var secrets: [String] = []
    @OptionGroup var key: APIKeyOptions

    @Option(name: .customLong("log-format"), help: "text, or json for one JSON object per line (environment: PATCHBAY_LOG_FORMAT).")
    var logFormat: LogFormat?
    @Option(name: .customLong("metrics-port"), help: "A port for /metrics, /healthz and /readyz over plain HTTP (default: none).")
    var metricsPort: Int?
    @Option(name: .customLong("metrics-host"), help: "The address of --metrics-port.")
    var metricsHost = "127.0.0.1"

    func validate() throws {
        guard 1...1_000 ~= capacity else { throw ValidationError("--capacity \(capacity): pass 1 to 1000") }
        guard 0...86_400 ~= drainTimeout else { throw ValidationError("--drain-timeout \(drainTimeout): pass 0 to 86400 seconds") }
        guard 0...65_535 ~= metricsPort ?? 0 else { throw ValidationError("--metrics-port \(metricsPort ?? 0): pass 0 to 65535") }
    }

    /// Serves until SIGINT or SIGTERM, then drains; a second signal ends the process at once.
    func run(at gateway: GatewayOptions, logLevel: Logger.Level) async throws {
        let format = logFormat ?? ProcessInfo.processInfo.environment["PATCHBAY_LOG_FORMAT"].flatMap(LogFormat.init(rawValue:)) ?? .text
        let counters = AgentCounters()
        let writer = LogSettings(level: logLevel, format: format).start { counters.services.add($0, to: .logLinesDropped) }
        defer { writer.finish() }
        let log = Logger(label: "patchbay.agent")
        let access = try gateway.access(with: key)
        let (url, trust, tokens) = (access.url, try access.trust(), try access.signer().tokens(ofAssistant: assistant))
        let secrets = try SecretOptions.read(secrets)
        let server = if let metricsPort { try await MetricsServer(host: metricsHost, port: metricsPort) } else { MetricsServer?.none }
        if let server { log.info("metrics", metadata: ["host": "\(metricsHost)", "port": .stringConvertible(server.port)]) }
        try await checkConnection(to: url, trust, tokens, log)
        log.info("loading the speech models")
        let agent = VoiceAgent(engines: try await EmbeddedEngines.load(secrets: secrets), tokens: tokens)
        let settings = AgentWorkerSettings(
            url: url, assistant: assistant, capacity: capacity, options: RoomOptions(trust: trust), drainTimeout: .seconds(drainTimeout),
            needsDefinition: true)
        let worker = AgentWorker(settings: settings, tokens: tokens) { job in
            try await counters.count { try await agent.converse(job) }
        }
        /// A line of standard output for people; of the log where all output is to be JSON.
        @Sendable func announce(_ text: String, _ message: Logger.Message) {
            if format == .text { Console.say(text) } else { log.info(message, metadata: ["assistant": "\(assistant)", "url": "\(url)"]) }
        }
        // Each task tells whether its end is the process's.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await worker.run()
                return true
            }
            group.addTask {
                if await worker.registered() { announce("Assistant \(assistant) ready for \(url).", "ready") }
                return false
            }
            group.addTask {
                do {
                    try await server?.run(for: worker) { await counters.text(of: worker, capacity: capacity) }
                } catch is CancellationError {
                    // The worker has ended.
                }
                return false
            }
            group.addTask {
                var hasDrained = false
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                    if hasDrained { Foundation.exit(1) }
                    hasDrained = true
                    announce("Draining; running conversations continue.", "draining")
                    Task { await worker.drain() }
                }
                return false
            }
            for try await isOver in group where isOver { group.cancelAll() }
        }
    }

    /// Connects once before the models are loaded, which takes seconds: a wrong address or secret is reported at once.
    ///
    /// - Throws: `ConnectError`, unless a later attempt may succeed.
    private func checkConnection(to url: String, _ trust: TLSTrust, _ tokens: @escaping UserTokenSource, _ log: Logger) async throws {
        do throws(ConnectError) {
            let channel = try await Channel.connect(url: url, options: RoomOptions(trust: trust), userTokens: tokens)
            await channel.close()
        } catch {
            guard error.isRetryable else { throw error }
            let reason = error.description
            return log.warning(
                "the gateway cannot be reached yet; trying again once the models are loaded", metadata: ["error": .string(reason)])
        }
        log.info("connected", metadata: ["url": .string(url)])
    }
}

extension LogFormat: ExpressibleByArgument {}

struct AgentStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Take jobs from a gateway.",
        discussion: """
            EXAMPLES
              patchbay agent start --dev
              patchbay agent start --url wss://voice.example --assistant helper \\
                  --api-key KEY --api-secret SECRET --capacity 20
              patchbay agent start --profile staging --assistant helper
              patchbay agent start --url wss://voice.example --log-format json \\
                  --metrics-port 9465 --secret LLM_KEY=/run/secrets/llm
            """)

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var options: AgentOptions

    func run() async throws {
        try await options.run(at: gateway, logLevel: .info)
    }
}

struct AgentDevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Take jobs from a development gateway, with detailed logs.",
        discussion: """
            The same as `start --dev`, and logs each message that could not be delivered.

            EXAMPLES
              patchbay agent dev
              patchbay agent dev --assistant helper --secret LLM_KEY
            """)

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var options: AgentOptions

    func run() async throws {
        var gateway = gateway
        gateway.dev = true
        try await options.run(at: gateway, logLevel: .debug)
    }
}

/// The secrets of `agent start --secret NAME[=FILE]`.
enum SecretOptions {
    /// Reads the listed environment variables and files.
    ///
    /// - Throws: `UsageError`, which repeats no secret.
    static func read(
        _ options: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ProviderSecrets {
        var secrets = ProviderSecrets()
        for option in options {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]{0,127}/) != nil else {
                throw UsageError("--secret: write NAME, an environment variable, or NAME=FILE; names have letters, digits and _")
            }
            guard !ProviderSettings.isReserved(secret: name) else {
                throw UsageError("--secret \(name): settings of Patchbay are not sent to providers; give the provider's key another name")
            }
            let secret = parts.count == 1 ? SecretReference.variable(name) : .file(parts[1])
            secrets.add(name, try secret.read(for: "--secret \(name)", or: "pass --secret \(name)=FILE", environment))
        }
        return secrets
    }
}

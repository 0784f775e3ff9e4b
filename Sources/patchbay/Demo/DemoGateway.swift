import ArgumentParser
import Foundation
import Gateway
import Identity
import PatchbayAgents
import PatchbayClient
import Wire

/// The gateway of the demonstrations and measurements: that of `serve --dev --data` in this process, on a free loopback port, with a data folder
/// of its own. Ignores configuration files and variables.
struct DemoGateway: Sendable {
    let url: String
    private let key: IssuerKey
    private let certificate: DevelopmentCertificate
    private let process: GatewayProcess

    /// Runs a gateway while `body` runs.
    ///
    /// - Parameter assistants: those that the gateway defines, beside the built-in one.
    static func run<Result: Sendable>(
        assistants: [AssistantDefinition] = [], _ body: @Sendable (DemoGateway) async throws -> Result
    ) async throws -> Result {
        let data = FileManager.default.temporaryDirectory.appending(path: "patchbay-demo-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: data) }
        let flags = try ServeCommand.parse(["--dev", "--port", "0", "--data", data])
        var configuration = try ServeConfiguration.load(flags: flags, environment: [:])
        configuration.assistants = assistants
        let demo = try await DemoGateway(configuration)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await demo.process.run() }
            // The first call waits until all participants have left, the second one does not.
            defer { for _ in 1...2 { demo.process.gateway.drain() } }
            return try await body(demo)
        }
    }

    private init(_ configuration: ServeConfiguration) async throws {
        guard let key = configuration.keys.signer else { throw UsageError("the development key cannot sign") }
        process = try await GatewayProcess(configuration)
        certificate = try DevelopmentCertificate.prepare()
        url = "wss://127.0.0.1:\(process.gateway.port)"
        self.key = key
    }

    /// The playground.
    var pageURL: String { "https://localhost:\(process.gateway.port)/" }

    var trust: TLSTrust { .authority(path: certificate.authorityPath) }

    /// - Parameter assistant: the assistant to dispatch, if this opens the room.
    func join(
        _ identity: String, name: String = "", kind: ParticipantKind = .standard, room: String = "demo", assistant: String? = nil
    ) async throws -> RoomConnection {
        let token = try key.token(
            identity, seconds: 600, name: name, kind: kind, video: .joining(room),
            roomSettings: assistant.map { TokenRoomSettings(agents: [TokenAgent(agentName: $0)]) })
        return try await RoomConnection.connect(url: url, token: token, options: RoomOptions(trust: trust, reconnect: .never))
    }

    /// A worker of an assistant, with the default capacity.
    func worker(of assistant: String, speakingWith engines: EmbeddedEngines) -> AgentWorker {
        let tokens = key.tokens(ofAssistant: assistant)
        let agent = VoiceAgent(engines: engines, tokens: tokens)
        let settings = AgentWorkerSettings(url: url, assistant: assistant, options: RoomOptions(trust: trust))
        return AgentWorker(settings: settings, tokens: tokens) { try await agent.converse($0) }
    }

    /// Frames that the gateway has sent to subscribers; updated once a second.
    var framesRelayed: UInt64 {
        process.gateway.metrics.snapshot.reduce(0) { $0 + $1.framesOut }
    }
}

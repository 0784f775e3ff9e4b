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
        commandName: "agent", abstract: "Serve an assistant.", subcommands: [AgentStartCommand.self])
}

struct AgentStartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Register as a worker and talk in the rooms to which the assistant is dispatched.",
        discussion: """
            SIGTERM and SIGINT start to drain: no jobs are accepted, and the process exits when the running ones are over or the drain \
            timeout expires. A second signal exits at once.

            EXAMPLES
              patchbay agent start --dev
              patchbay agent start --url wss://voice.example --assistant helper --capacity 20 --api-key my-app
            """)

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var key: APIKeyOptions
    @Option(help: "The assistant's id.")
    var assistant = "default"
    @Option(help: "How many rooms to serve at once.")
    var capacity = 10
    @Option(name: .customLong("drain-timeout"), help: "How long running jobs may take after SIGTERM, in seconds.")
    var drainTimeout = 600.0

    func run() async throws {
        guard 1...1_000 ~= capacity else { throw UsageError("--capacity \(capacity): pass 1 to 1000") }
        guard 0...86_400 ~= drainTimeout else { throw UsageError("--drain-timeout \(drainTimeout): pass 0 to 86400 seconds") }
        guard CallParty(text: CallParty.assistantPrefix + assistant) != nil else {
            throw UsageError("--assistant requires a name of 1 to \(ProtocolLimits.identityBytesMax) bytes")
        }
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let settings = AgentWorkerSettings(
            url: gateway.url, assistant: assistant, capacity: capacity, options: RoomOptions(trust: try gateway.trust()),
            drainTimeout: .seconds(drainTimeout))
        let worker = AgentWorker(settings: settings, tokens: try tokens(), handler: EchoJob.run)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.run() }
            group.addTask { await Self.drainOnSignal(worker) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Each token is valid for an hour.
    private func tokens() throws -> UserTokenSource {
        let (signer, identity) = (try key.signer(), CallParty.assistant(assistant).text)
        return {
            var grant = VideoGrant()
            grant.agent = true
            let now = Int64(Date().timeIntervalSince1970)
            return try TokenMinter.mint(
                AccessToken(identity: identity, notBefore: now - 5, expires: now + 3_600, video: grant), with: signer)
        }
    }

    private static func drainOnSignal(_ worker: AgentWorker) async {
        var count = 0
        await withDiscardingTaskGroup { group in
            for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
                count += 1
                if count > 1 { Foundation.exit(1) }
                group.addTask { await worker.drain() }
            }
        }
    }
}

/// A job that returns each utterance of a user.
enum EchoJob {
    @Sendable static func run(_ job: AgentJob) async throws {
        let room = try await job.connect()
        let echo = try await EchoAssistant(in: room)
        async let following: Void = follow(room, echo)
        do {
            try await echo.run()
        } catch {
            await room.leave()
            throw error
        }
        await following
        await room.leave()
    }

    /// Until the room ends or the job is cancelled.
    private static func follow(_ room: RoomConnection, _ echo: EchoAssistant) async {
        for await event in room.events { echo.handle(event) }
        echo.end()
    }
}

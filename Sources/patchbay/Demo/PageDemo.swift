import Backend
import Foundation
import PatchbayAgents
import PatchbayClient
import UnixSignals
import Wire

/// The end of the demonstration: the gateway stays up with an assistant, to be called from the playground.
struct PageDemo: Sendable {
    let gateway: DemoGateway
    let engines: EmbeddedEngines

    /// Serves until SIGINT or SIGTERM, which end running conversations, too.
    ///
    /// - Throws: if the assistant cannot register.
    func run() async throws {
        let tokens: UserTokenSource = { try gateway.assistantToken() }
        let agent = VoiceAgent(engines: engines, tokens: tokens)
        let settings = AgentWorkerSettings(
            url: gateway.url, assistant: AssistantDefinition.builtIn.id, options: RoomOptions(trust: gateway.trust))
        let worker = AgentWorker(settings: settings, tokens: tokens) { try await agent.converse($0) }
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
                while !(await worker.isRegistered) { try await Task.sleep(for: .milliseconds(20)) }
                Console.say(invitation)
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

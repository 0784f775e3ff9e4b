import Backend
import Gateway
import Logging
import ServiceLifecycle
import UnixSignals

/// Handles signals: SIGTERM and SIGINT drain, a second one ends the drain, SIGHUP reloads certificate, keys, assistants and dispatch rules. The
/// service group does not handle them, because it would stop this service before the gateway has drained.
struct SignalService: Service {
    let gateway: Gateway
    let assistants: AssistantDirectory
    let dispatch: DispatchService?
    let flags: ServeCommand
    let greeting: String
    private let log = Logger(label: "patchbay")

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
        // Printed once handlers are installed: scripts may send a signal right after it.
        Console.say(greeting)
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup { await reload() } else { gateway.drain() }
        }
    }

    /// Applies a valid configuration. Of an invalid one nothing is applied, but the certificate is read again.
    private func reload() async {
        do {
            let configuration = try await ServeConfiguration.load(flags: flags)
            gateway.reload(keys: configuration.keys)
            assistants.configure(configuration.assistants)
            await dispatch?.use(configuration.dispatchRules)
            log.info(
                "configuration read again",
                metadata: ["assistants": "\(configuration.assistants.count)", "dispatch_rules": "\(configuration.dispatchRules.count)"])
        } catch {
            log.error("configuration not read again; keys, assistants and dispatch rules stay", metadata: ["reason": "\(error)"])
            gateway.reload(keys: nil)
        }
    }
}

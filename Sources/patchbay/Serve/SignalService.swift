import Backend
import Gateway
import Logging
import ServiceLifecycle
import Sockets
import UnixSignals

/// Handles signals: SIGTERM and SIGINT drain, a second one ends the drain, SIGHUP reloads certificate, keys, assistants and dispatch rules. The
/// service group does not handle them, because it would stop this service before the gateway has drained.
struct SignalService: Service {
    let gateway: Gateway
    let assistants: AssistantDirectory
    let dispatch: DispatchService?
    let flags: ServeCommand
    /// Of the file with which the gateway started (`ConfigurationFile.settings`).
    let settings: [String: String]
    let tls: TLSFiles
    let greeting: String
    private let log = Logger(label: "patchbay")

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
        // Printed once handlers are installed: scripts may send a signal right after it.
        Console.say(greeting)
        var tls = tls
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup { tls = await reload(tls) } else { gateway.drain() }
        }
    }

    /// Applies the configuration, and says what was reloaded, what was not, and why. Of an invalid one nothing is applied, but the current
    /// certificate is read again: renewed certificates do not wait for the correction of another setting.
    ///
    /// - Returns: the certificate in use.
    private func reload(_ tls: TLSFiles) async -> TLSFiles {
        do {
            let new = try ConfigurationFile.load(flags: flags)
            let configuration = try await ServeConfiguration.load(flags: flags, file: new)
            gateway.reload(keys: configuration.keys)
            assistants.configure(configuration.assistants)
            await dispatch?.use(configuration.dispatchRules)
            log.info(
                "configuration reloaded: keys, assistants and dispatch rules",
                metadata: ["assistants": "\(configuration.assistants.count)", "dispatch_rules": "\(configuration.dispatchRules.count)"])
            warnOfSettingsNotReloaded(try new?.settings() ?? [:])
            return reloadCertificate(configuration.settings.tls, insteadOf: tls)
        } catch {
            log.error(
                "configuration not reloaded; keys, assistants and dispatch rules stay as they were; correct the file and send SIGHUP again",
                metadata: ["reason": "\(error)"])
            return reloadCertificate(tls, insteadOf: tls)
        }
    }

    private func reloadCertificate(_ new: TLSFiles, insteadOf old: TLSFiles) -> TLSFiles {
        do {
            try gateway.reload(certificate: new)
            log.info("certificate reloaded, for new connections", metadata: ["certificate": "\(new.certificatePath)"])
            return new
        } catch {
            log.error(
                "certificate not reloaded; the previous one stays in use",
                metadata: ["certificate": "\(new.certificatePath)", "reason": "\(error)"])
            return old
        }
    }

    private func warnOfSettingsNotReloaded(_ new: [String: String]) {
        let reloaded: Set = ["cert", "key", "keys", "assistants", "dispatch"]
        let changed = Set(settings.keys).union(new.keys).subtracting(reloaded).filter { settings[$0] != new[$0] }
        guard !changed.isEmpty else { return }
        log.warning(
            "settings changed that only a restart applies", metadata: ["settings": "\(changed.sorted().joined(separator: ", "))"])
    }
}

import ArgumentParser
import Backend
import Configuration
import Gateway
import Logging
import ServiceLifecycle
import Sockets
import Synchronization
import UnixSignals
import YAMLSettings

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway.",
        discussion: """
            Settings are read from a YAML file, then from the environment (PATCHBAY_PORT, PATCHBAY_ROOM_EMPTY_TIMEOUT, …), then from these \
            flags. Later sources override earlier ones. Paths in the file are relative to it.

            SIGTERM and SIGINT start to drain: new participants are rejected, and the gateway exits when its rooms are empty or the drain \
            timeout expires. A second signal exits at once. SIGHUP reloads certificate, keys, assistants and dispatch rules without \
            interrupting calls; if the configuration is invalid, the earlier one stays. The log says what was reloaded.

            Exit code 2: the command or the configuration is wrong. 1: something that may pass, such as a port in use. --check exits with the \
            same codes, and with 1 if clients would refuse the certificate.

            EXAMPLES
              patchbay serve --dev
              patchbay serve --dev --data ./data
              patchbay serve --config /etc/patchbay.yaml
              patchbay serve --config /etc/patchbay.yaml --check
              patchbay serve --host 0.0.0.0 --cert cert.pem --key key.pem

            CONFIGURATION FILE
              # All settings, each with its default or an example.
            \(SettingDocuments.help)
            """)

    @Option(help: "A YAML file with settings (environment: PATCHBAY_CONFIG).")
    var config: String?
    @Flag(help: "For development: the key `devkey` with secret `secret`, the development certificate, loopback only.")
    var dev = false
    @Flag(help: "Check the configuration, certificate, keys, store and ports, print the results and exit without serving.")
    var check = false
    @Flag(help: "Print each result of --check as one line of JSON.")
    var json = false
    @Option(help: .of("host")) var host: String?
    @Option(parsing: .unconditional, help: .of("port")) var port: Int?
    @Option(help: .of("cert")) var cert: String?
    @Option(help: .of("key")) var key: String?
    @Option(parsing: .unconditional, help: .of("shards")) var shards: Int?
    @Option(help: .of("data")) var data: String?
    @Option(help: .of("database")) var database: String?
    @Option(help: .of("master_key_file")) var masterKey: String?
    @Option(name: .customLong("tls-fast-path"), help: .of("tls.fast_path")) var tlsFastPath: String?
    @Option(help: .of("log_level")) var logLevel: String?
    @Option(help: .of("log_format")) var logFormat: String?

    /// The settings given as options, by key.
    var values: [String: ConfigContent?] {
        [
            "host": host.map(ConfigContent.string), "port": port.map(ConfigContent.int), "cert": cert.map(ConfigContent.string),
            "key": key.map(ConfigContent.string), "shards": shards.map(ConfigContent.int), "data": data.map(ConfigContent.string),
            "database": database.map(ConfigContent.string), "master_key_file": masterKey.map(ConfigContent.string),
            "tls.fast_path": tlsFastPath.map(ConfigContent.string),
            "log_level": logLevel.map(ConfigContent.string), "log_format": logFormat.map(ConfigContent.string),
        ]
    }

    func validate() throws {
        if json, !check { throw ValidationError("--json needs --check") }
    }

    func run() async throws {
        DescriptorLimit.raise()
        HeapMemory.limitArenas()
        if check { return try runCheck() }
        let file = try ConfigurationFile.load(flags: self)
        if logFormat == nil, file?.settings["log_format"]?.written == "json" { Console.writesJSON.store(true, ordering: .relaxed) }
        let configuration = try ServeConfiguration.load(flags: self, file: file)
        Console.writesJSON.store(configuration.log.format == .json, ordering: .relaxed)
        let counters = ServiceCounters()
        let recent = RecentOperations()
        let writer = configuration.log.start(recent: recent) { counters.add($0, to: .logLinesDropped) }
        defer { writer.finish() }
        let log = Logger(label: "patchbay")
        let process = try await GatewayProcess(configuration, counters: counters, recent: recent, log: log)
        // After everything that can fail, so that an error is the only line of output.
        configuration.report(to: log)
        log.info("listening", metadata: configuration.ports(of: process.gateway))
        try await process.run(
            with: SignalService(
                process: process, flags: self, settings: file?.settings ?? [:], tls: configuration.settings.tls,
                greeting: greeting(configuration, port: process.gateway.port)))
    }

    /// Exits as `serve` would.
    private func runCheck() throws {
        let say = { [json] (result: CheckResult) in Console.say(json ? Console.line(of: result) : "\(result)") }
        let status: Int32
        do {
            status = try ServeConfiguration.load(flags: self).check(say)
        } catch {
            say(CheckResult(status: .error, text: "\(error)"))
            status = Main.status(of: error)
        }
        if status != 0 { throw ExitCode(status) }
    }

    private func greeting(_ configuration: ServeConfiguration, port: Int) -> String {
        let url = "wss://\(configuration.settings.host):\(port)"
        let line = "patchbay \(Version.text) listening on \(url)"
        if configuration.log.format == .json {
            let record = LogRecord(
                time: .now, level: .info, logger: "patchbay", message: "ready",
                metadata: ["url": .string(url), "version": .string(Version.text)])
            return String(decoding: LogFormat.json.line(record).dropLast(), as: UTF8.self)
        }
        guard configuration.isDevelopment else { return line }
        let page = configuration.settings.edge.servesPages ? "\n  playground: https://127.0.0.1:\(port)/" : ""
        return """
            \(line)
            development mode: API key devkey, secret secret, loopback only\(page)
              patchbay join --dev --url wss://127.0.0.1:\(port) --room lobby --identity echo --echo
              patchbay join --dev --url wss://127.0.0.1:\(port) --room lobby --identity alice --play hello.wav --record heard.ogg
            """
    }
}

extension ArgumentHelp {
    /// The help of a setting's option.
    fileprivate static func of(_ key: String) -> ArgumentHelp { ArgumentHelp(Setting.named(key).help) }
}

/// Handles signals: SIGTERM and SIGINT drain, a second one ends the drain, SIGHUP reloads certificate, keys, assistants and dispatch rules. The
/// service group does not handle them, because it would stop this service before the gateway has drained.
struct SignalService: Service {
    let process: GatewayProcess
    let flags: ServeCommand
    /// Of the file with which the gateway started (`ConfigurationFile.settings`).
    let settings: [String: YAMLValue]
    let tls: TLSFiles
    let greeting: String
    private let log = Logger(label: "patchbay")

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
        // Printed once handlers are installed: scripts may send a signal right after it.
        Console.say(greeting)
        var tls = tls
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup { tls = await reload(tls) } else { process.gateway.drain() }
        }
    }

    /// Applies the configuration, and says what was reloaded, what was not, and why. Of an invalid one nothing is applied, but the current
    /// certificate is read again: renewed certificates do not wait for the correction of another setting.
    ///
    /// - Returns: the certificate in use.
    private func reload(_ tls: TLSFiles) async -> TLSFiles {
        do {
            let new = try ConfigurationFile.load(flags: flags)
            let configuration = try ServeConfiguration.load(flags: flags, file: new)
            process.gateway.reload(keys: configuration.keys)
            process.assistants.configure(configuration.assistants)
            await process.dispatch.use(configuration.dispatchRules)
            log.info(
                "configuration reloaded: keys, assistants and dispatch rules",
                metadata: [
                    "assistants": .stringConvertible(configuration.assistants.count),
                    "dispatch_rules": .stringConvertible(configuration.dispatchRules.count),
                ])
            warnOfSettingsNotReloaded(new?.settings ?? [:])
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
            try process.gateway.reload(certificate: new)
            log.info("certificate reloaded, for new connections", metadata: ["certificate": "\(new.certificatePath)"])
            return new
        } catch {
            log.error(
                "certificate not reloaded; the previous one stays in use",
                metadata: ["certificate": "\(new.certificatePath)", "reason": "\(error)"])
            return old
        }
    }

    private func warnOfSettingsNotReloaded(_ new: [String: YAMLValue]) {
        let changed = Set(settings.keys).union(new.keys).filter { !Setting.named($0).isReloaded && settings[$0] != new[$0] }
        guard !changed.isEmpty else { return }
        log.warning(
            "settings changed that only a restart applies", metadata: ["settings": "\(changed.sorted().joined(separator: ", "))"])
    }
}

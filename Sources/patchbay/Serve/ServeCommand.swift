import ArgumentParser
import Backend
import Foundation
import Gateway
import Identity
import Logging
import ServiceLifecycle
import Sockets
import Store
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway.",
        discussion: """
            Settings come from a YAML file, then the environment (PATCHBAY_PORT, PATCHBAY_ROOM_EMPTY_TIMEOUT, …), then \
            these flags; later wins.

            SIGTERM drains: nobody new is let in, and the gateway ends when its rooms are empty or the drain's time is over; \
            a second one ends it at once. SIGHUP reads certificate and keys again without touching a call.

            EXAMPLES
              patchbay serve --dev
              patchbay serve --dev --data ./data
              patchbay serve --config /etc/patchbay.yaml
              patchbay serve --host 0.0.0.0 --cert cert.pem --key key.pem --config keys.yaml

            A CONFIGURATION FILE
              host: 0.0.0.0
              port: 7880
              cert: /etc/patchbay/cert.pem
              key: /etc/patchbay/key.pem
              shards: 2
              shard_ports: 7890    # of each shard its own, from here on; otherwise free ones
              drain_timeout: 600
              data: /var/lib/patchbay              # accounts and sessions
              master_key_file: /etc/patchbay.key
              record_sessions: true                # of users who agreed; sealed, as all that is kept
              public_url: wss://voice.example      # what clients are told; otherwise the host that they asked
              allowed_origins: [https://app.example]
              summaries: {url: "https://llm.example/v1/chat/completions", model: small, api_key: a-secret}   # otherwise made here
              users: {issuer: https://login.example, algorithm: RS256, public_key_file: login.pub.pem, audience: patchbay}
              resume_seconds: 20   # how long the place of a lost connection is kept; 0 gives it up at once
              keys:
                my-app: a-secret-of-at-least-32-characters
                other-issuer: {algorithm: RS256, public_key_file: issuer.pub.pem}
              tls: {fast_path: auto}               # or off: all TLS records are OpenSSL's
              room: {auto_create: true, empty_timeout: 300, departure_timeout: 20, max_participants: 0, silence_limit: 10}
              webhook:             # who is told of rooms, sessions and calls, in LiveKit's form
                urls: ["https://backend.example.org/hooks"]
                api_key: my-app    # signs them; otherwise the first of the keys that has a secret
                ca: ca.pem         # trusted besides the system's authorities
            """)

    @Option(help: "A YAML file with settings (environment: PATCHBAY_CONFIG).")
    var config: String?
    @Flag(help: "For development: the key `devkey` with secret `secret`, the development certificate, loopback only.")
    var dev = false
    @Option(help: "The numeric address to listen on (default 127.0.0.1).")
    var host: String?
    @Option(help: "The port for HTTP and WebSocket (default 7880; 0 takes a free one).")
    var port: Int?
    @Option(help: "The certificate chain, a PEM file.")
    var cert: String?
    @Option(help: "The certificate's private key, a PEM file.")
    var key: String?
    @Option(help: "How many threads serve (default: one for each processor that the gateway may use).")
    var shards: Int?
    @Option(help: "The directory for what the gateway keeps: with it come accounts and sessions. Made if it is not there.")
    var data: String?
    @Option(help: "The file with the key that the store is locked with; made for a new store (environment: PATCHBAY_MASTER_KEY, the key).")
    var masterKey: String?
    @Option(
        name: .customLong("tls-fast-path"),
        help: "auto: process TLS records without OpenSSL where that was tested; off: never (environment: PATCHBAY_TLS_FAST_PATH; default auto).")
    var tlsFastPath: String?
    @Flag(help: "Check the configuration, certificate, keys, store and ports, print the result and exit without serving.")
    var check = false
    @Option(name: .customLong("log-level"), help: "trace, debug, info, notice, warning or error (default info).")
    var logLevel: String?

    func run() async throws {
        DescriptorLimit.raise()
        if check { return try await runCheck() }
        let configuration = try await ServeConfiguration.load(flags: self)
        let level = configuration.logLevel
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let log = Logger(label: "patchbay")
        for warning in configuration.keys.warnings where !configuration.isDevelopment { log.warning("\(warning)") }
        let backend = try configuration.store.map { settings in
            try BackendServices(
                store: try settings.open(.owner, log), externalIssuer: configuration.externalIssuer, publicURL: configuration.publicURL,
                recordingsDirectory: configuration.recordsSessions ? settings.directory + "/recordings" : nil,
                webhookEndpoints: configuration.webhooks?.urls ?? [])
        }
        let summarizer = try await configuration.makeSummarizer()
        let gateway: Gateway
        var auditEventWriter: AuditEventWriter?
        var calls: CallService?
        do {
            gateway = try Gateway(
                settings: configuration.settings, keys: configuration.keys, facts: backend?.auditEvents, recordings: backend?.recordings,
                calls: backend?.callInbox
            ) { rooms, keys in
                guard let backend else { return [] }
                let sessions = backend.sessionService(rooms, keys: keys)
                auditEventWriter = backend.auditEventWriter(sessions, summarizer: summarizer)
                let service = backend.callService(rooms, keys: keys, server: configuration.settings.serverInfo)
                calls = service
                return backend.routes(sessions, service)
            }
        } catch let error as ListenError {
            throw UsageError("\(error)")
        } catch let error as TLSFileError {
            throw UsageError("\(error)")
        }
        try await backend?.restore()
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup),
            .init(
                service: SignalService(gateway: gateway, flags: self, greeting: greeting(configuration, port: gateway.port)),
                successTerminationBehavior: .ignore),
        ]
        if let auditEventWriter { services.append(.init(service: LastToLeave(service: auditEventWriter), successTerminationBehavior: .ignore)) }
        if let backend, let webhooks = configuration.webhooks {
            let client = try OutgoingClient(trusting: webhooks.trust)
            services.append(
                .init(service: WebhookService(webhooks, store: backend.store, client: client), successTerminationBehavior: .ignore))
        }
        if let calls { services.append(.init(service: LastToLeave(service: calls), successTerminationBehavior: .ignore)) }
        try await ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: quiet)).run()
        try backend?.store.close()
    }

    /// Exits with 1 if the gateway could not start.
    private func runCheck() async throws {
        do {
            try await ServeConfiguration.load(flags: self).check()
        } catch let error as UsageError {
            Console.say("error: \(error)")
            throw ExitCode(1)
        }
    }

    /// The service group tells every step of its own; that is of no interest to who runs a gateway.
    private var quiet: Logger {
        var logger = Logger(label: "patchbay.lifecycle")
        logger.logLevel = .error
        return logger
    }

    private func greeting(_ configuration: ServeConfiguration, port: Int) -> String {
        let line = "patchbay \(Version.text) listening on wss://\(configuration.settings.host):\(port)"
        guard configuration.isDevelopment else { return line }
        return """
            \(line)
            development mode: API key devkey, secret secret, loopback only
              patchbay join --dev --url wss://127.0.0.1:\(port) --room lobby --identity echo --echo
              patchbay join --dev --url wss://127.0.0.1:\(port) --room lobby --identity alice --play hello.wav --record heard.ogg
            """
    }
}

/// A service that ends by itself when the gateway has ended, which the service group takes for a failure unless it was its turn.
private struct LastToLeave: Service {
    let service: any Service

    func run() async throws {
        try await service.run()
        try await gracefulShutdown()
    }
}

/// What signals mean: SIGTERM and SIGINT drain, once more ends the drain, SIGHUP reads certificate and keys again. Here and not in the
/// service group, which would end this service before it lets the gateway drain.
private struct SignalService: Service {
    let gateway: Gateway
    let flags: ServeCommand
    let greeting: String

    func run() async throws {
        let log = Logger(label: "patchbay")
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
        // Only now: who reads this may send a signal at once.
        Console.say(greeting)
        for await signal in signals.cancelOnGracefulShutdown() {
            guard signal == .sighup else {
                gateway.drain()
                continue
            }
            do {
                gateway.reload(keys: try await ServeConfiguration.load(flags: flags).keys)
            } catch {
                log.error("configuration not read again; the old keys stay", metadata: ["reason": "\(error)"])
                gateway.reload(keys: nil)
            }
        }
    }
}

import ArgumentParser
import Backend
import Foundation
import Gateway
import HTTPServer
import Identity
import Logging
import OutgoingHTTP
import ServiceLifecycle
import Sockets
import Store

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

            EXAMPLES
              patchbay serve --dev
              patchbay serve --dev --data ./data
              patchbay serve --config /etc/patchbay.yaml
              patchbay serve --config /etc/patchbay.yaml --check
              patchbay serve --host 0.0.0.0 --cert cert.pem --key key.pem

            CONFIGURATION FILE
              host: 0.0.0.0
              port: 7880
              cert: /etc/patchbay/cert.pem
              key: /etc/patchbay/key.pem
              # Number of threads. Each can also listen on a port of its own.
              shards: 2
              shard_ports: 7881-7888
              # Plain HTTP and WebSockets, for a proxy that terminates TLS.
              plain_port: 7890
              plain_host: 127.0.0.1
              trusted_proxies: ["127.0.0.0/8", "::1"]
              # With a header of the PROXY protocol, version 2, on each connection.
              proxy_protocol: false
              # Plain HTTP for /metrics, /readyz and /healthz.
              metrics_port: 9464
              metrics_host: 127.0.0.1
              # Whether the clients' ports have /metrics and /readyz, too.
              public_metrics: false
              drain_timeout: 600
              # text or json.
              log_format: json
              # Accounts and sessions, encrypted with the master key.
              data: /var/lib/patchbay
              master_key_file: /etc/patchbay.key
              # Record sessions of users who opted in.
              record_sessions: true
              accounts:
                # Accounts can do nothing until their e-mail address is confirmed.
                # Needs `webhook`, which delivers the codes.
                confirm_email: true
                # Accounts that an address may create; 0 for no limit.
                registrations_per_hour: 30
              # The URL for clients. Required with `data`, except with --dev.
              public_url: wss://voice.example
              # Web pages that may connect.
              allowed_origins: [https://app.example]
              # Whether the gateway serves web pages of its own: a playground at /,
              # users' sessions at /sessions, a dashboard at /dashboard, and the client
              # library at /web/patchbay.js.
              pages: true
              # A model for summaries. Default: built-in.
              summaries:
                url: https://llm.example/v1/chat/completions
                model: small
                api_key: a-secret
              # The issuer of users' tokens.
              users:
                issuer: https://login.example
                algorithm: RS256
                public_key_file: login.pub.pem
                audience: patchbay
              # How long a disconnected client can resume; 0 disables resuming.
              resume_seconds: 20
              keys:
                my-app: a-secret-of-at-least-32-characters
                other-issuer: {algorithm: RS256, public_key_file: issuer.pub.pem}
              # auto or off. With off, OpenSSL handles all TLS records.
              tls: {fast_path: auto}
              room:
                auto_create: true
                empty_timeout: 300
                departure_timeout: 20
                max_participants: 0
                silence_limit: 10
              # Webhooks in LiveKit's format about rooms, sessions and calls.
              webhook:
                urls: ["https://backend.example.org/hooks"]
                # The key that signs them. Default: the first key with a secret.
                api_key: my-app
                # An additional trusted certificate authority.
                ca: ca.pem
              # Wakes iPhones for calls with Apple's push service. Without it, and for
              # other phones, the webhook push.call_incoming asks a backend to do so.
              push:
                apns:
                  key_file: /etc/patchbay/AuthKey_ABC123DEFG.p8
                  key_id: ABC123DEFG
                  team_id: DEF123GHIJ
                  topic: com.example.voice
                  environment: production
              # Assistants; `default` exists without configuration.
              assistants:
                - id: default
                  name: Robin
                  instructions: You are Robin, the assistant of a bookshop.
                  greetings: ["Hello {name}, this is Robin."]
                  voice: alloy
                  language: en
                  tools:
                    - name: find_book
                      description: Finds books by title.
                      parameters: {type: object, properties: {title: {type: string}}}
                      url: https://backend.example.org/tools/find-book
                      timeout_ms: 5000
                  quick_commands: ["What is new?"]
                  widget: {start_text: Talk to Robin, theme: auto}
              # Assistants for rooms by name, when they open.
              dispatch:
                - {room: "support-*", assistant: helper}
            """)

    @Option(help: "A YAML file with settings (environment: PATCHBAY_CONFIG).")
    var config: String?
    @Flag(help: "For development: the key `devkey` with secret `secret`, the development certificate, loopback only.")
    var dev = false
    @Option(help: "The numeric address to listen on (default 127.0.0.1).")
    var host: String?
    @Option(help: "The port for HTTP and WebSocket (default 7880; 0 picks a free one).")
    var port: Int?
    @Option(help: "The certificate chain as PEM file.")
    var cert: String?
    @Option(help: "The certificate's private key as PEM file.")
    var key: String?
    @Option(help: "The number of threads (default: one per available processor).")
    var shards: Int?
    @Option(help: "The data directory; enables accounts and sessions. Created if it does not exist.")
    var data: String?
    @Option(help: "The file with the store's master key. Created for a new store. (environment: PATCHBAY_MASTER_KEY, the key itself).")
    var masterKey: String?
    @Option(
        name: .customLong("tls-fast-path"),
        help:
            "auto: process TLS records without OpenSSL where that was tested; off: never (environment: PATCHBAY_TLS_FAST_PATH; default auto)."
    )
    var tlsFastPath: String?
    @Flag(help: "Check the configuration, certificate, keys, store and ports, print the results and exit without serving.")
    var check = false
    @Option(name: .customLong("log-level"), help: "trace, debug, info, notice, warning or error (default info).")
    var logLevel: String?
    @Option(name: .customLong("log-format"), help: "text, or json for one JSON object per line (default text).")
    var logFormat: String?

    func run() async throws {
        DescriptorLimit.raise()
        HeapMemory.limitArenas()
        if check { return try await runCheck() }
        let file = try ConfigurationFile.load(flags: self)
        let configuration = try await ServeConfiguration.load(flags: self, file: file)
        let counters = ServiceCounters()
        let writer = configuration.log.start { counters.add($0, to: .logLinesDropped) }
        defer { writer.finish() }
        let (log, operatorLog) = (Logger(label: "patchbay"), OperatorLog())
        let assistants = AssistantDirectory(configured: configuration.assistants)
        let dispatch = DispatchInbox()
        let backend = try configuration.store.map { settings in
            try BackendServices(
                store: try settings.open(.owner, log, observing: { counters.record($0, $1, $2) }),
                externalIssuer: configuration.externalIssuer, publicURL: configuration.publicURL,
                recordingsDirectory: configuration.recordsSessions ? settings.directory + "/recordings" : nil,
                dispatch: dispatch, webhookEndpoints: configuration.webhooks?.urls ?? [], assistants: assistants,
                accountSettings: configuration.accounts, operatorLog: operatorLog)
        }
        let summarizer = try await configuration.makeSummarizer()
        let toolClient = try OutgoingClient(trusting: configuration.webhooks?.trust ?? .system)
        let gateway: Gateway
        var auditEventWriter: AuditEventWriter?
        var calls: CallService?
        var dispatchService: DispatchService?
        var speech: SpeechService?
        let generator = configuration.makeSpeechGenerator()
        let player = RoomClipPlayer()
        do {
            gateway = try Gateway(
                settings: configuration.settings, keys: configuration.keys, auditEvents: backend?.auditEvents,
                recordings: backend?.recordings,
                calls: backend?.callInbox, dispatch: dispatch, services: counters, operatorLog: operatorLog
            ) { rooms, keys in
                let tools = ToolCaller(
                    assistants, counters: counters, signer: { configuration.webhooks?.key(in: keys.current) ?? keys.current.signer },
                    sending: { toolClient.outgoing(timeout: $0, responseBytesMax: $1) })
                let workers = DispatchService(
                    inbox: dispatch, rooms: rooms, keys: keys, publicURL: configuration.publicURL, rules: configuration.dispatchRules,
                    calls: backend?.callInbox, server: configuration.settings.serverInfo, definition: { assistants.definition($0) })
                dispatchService = workers
                let assistantRoutes =
                    AssistantRoutes.routes(assistants, keys: keys, store: backend?.store) + ToolRoutes.routes(tools, keys: keys)
                    + DispatchRoutes.routes(workers, keys: keys)
                    + (configuration.isDevelopment
                        ? DevelopmentRoutes.routes(
                            keys: keys, publicURL: configuration.publicURL, assistants: assistants, dispatch: dispatch.registry) : [])
                guard let backend else { return assistantRoutes }
                let sessions = backend.sessionService(rooms, keys: keys)
                auditEventWriter = backend.auditEventWriter(sessions, summarizer: summarizer)
                let service = backend.callService(rooms, keys: keys, server: configuration.settings.serverInfo)
                calls = service
                speech = generator.map {
                    backend.speechService($0, rooms, calls: service, keys: keys, player: player, counters: counters)
                }
                return backend.routes(sessions, service) + assistantRoutes
                    + SpeechRoutes.routes(speech, accounts: backend.accounts, assistants: assistants, keys: keys)
            }
        } catch let error as ListenError {
            throw UsageError("\(error)")
        } catch let error as TLSFileError {
            throw UsageError("\(error)")
        }
        // After everything that can fail, so that an error is the only line of output.
        configuration.report(to: log)
        log.info("listening", metadata: Self.ports(of: gateway, configuration.settings))
        player.connect(toHost: configuration.settings.host, port: gateway.port)
        try await backend?.restore()
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup),
            .init(
                service: SignalService(
                    gateway: gateway, assistants: assistants, dispatch: dispatchService, flags: self, settings: try file?.settings() ?? [:],
                    tls: configuration.settings.tls,
                    greeting: greeting(configuration, port: gateway.port)),
                successTerminationBehavior: .ignore),
        ]
        if let auditEventWriter {
            services.append(.init(service: LastToLeave(service: auditEventWriter), successTerminationBehavior: .ignore))
        }
        if let backend, let webhooks = configuration.webhooks {
            let client = try OutgoingClient(trusting: webhooks.trust)
            services.append(
                .init(
                    service: WebhookService(
                        webhooks, keys: gateway.keys, store: backend.store, sending: client.outgoing(), counters: counters,
                        operatorLog: operatorLog),
                    successTerminationBehavior: .ignore))
        }
        if let backend, let calls {
            let client = try OutgoingClient(version: .http2)
            let push = backend.pushService(calls: calls, apns: configuration.apns, sending: client.outgoing(), counters: counters)
            services.append(.init(service: push, successTerminationBehavior: .ignore))
        }
        if let speech { services.append(.init(service: speech, successTerminationBehavior: .ignore)) }
        if let calls { services.append(.init(service: LastToLeave(service: calls), successTerminationBehavior: .ignore)) }
        if let dispatchService {
            services.append(.init(service: LastToLeave(service: dispatchService), successTerminationBehavior: .ignore))
        }
        var group = ServiceGroupConfiguration(services: services, logger: quiet)
        group.maximumGracefulShutdownDuration = Self.shutdownTimeout
        try await ServiceGroup(configuration: group).run()
        try backend?.store.close()
    }

    /// How long services may take to write what the gateway has left them. It starts once the gateway has stopped, that is after the drain.
    private static let shutdownTimeout = Duration.seconds(30)

    /// Exits with 1 if the gateway could not start or would be useless.
    private func runCheck() async throws {
        do {
            guard try await ServeConfiguration.load(flags: self).check() else { throw ExitCode(1) }
        } catch let error as UsageError {
            Console.say("error: \(error)")
            throw ExitCode(1)
        }
    }

    private static func ports(of gateway: Gateway, _ settings: GatewaySettings) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["host": .string(settings.host), "port": .stringConvertible(gateway.port)]
        if let port = gateway.plainPort, let plain = settings.edge.plain {
            metadata.merge(["plain_host": .string(plain.host), "plain_port": .stringConvertible(port)]) { $1 }
        }
        if let port = gateway.operationsPort, let operations = settings.edge.operations {
            metadata.merge(["metrics_host": .string(operations.host), "metrics_port": .stringConvertible(port)]) { $1 }
        }
        if !gateway.shardPorts.isEmpty { metadata["shard_ports"] = .array(gateway.shardPorts.map { .stringConvertible($0) }) }
        return metadata
    }

    /// Silences the service group, whose lifecycle messages do not help operators.
    private var quiet: Logger {
        var logger = Logger(label: "patchbay.lifecycle")
        logger.logLevel = .error
        return logger
    }

    private func greeting(_ configuration: ServeConfiguration, port: Int) -> String {
        let line = "patchbay \(Version.text) listening on wss://\(configuration.settings.host):\(port)"
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

/// Runs a service that ends with the gateway, and then waits for the group's shutdown: the group treats an earlier end as a failure.
private struct LastToLeave: Service {
    let service: any Service

    func run() async throws {
        try await service.run()
        // Throws if the shutdown has taken too long; then no service waits any more.
        try? await gracefulShutdown()
    }
}

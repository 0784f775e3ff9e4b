import Backend
import Gateway
import HTTPServer
import Identity
import Logging
import OutgoingHTTP
import ServiceLifecycle
import Sockets
import Store

/// A gateway with everything that its configuration adds: store, calls, assistants, webhooks, pushes, speech clips.
struct GatewayProcess: Sendable {
    let gateway: Gateway
    let assistants: AssistantDirectory
    let dispatch: DispatchService
    private let backend: BackendServices?
    /// The services that run beside the gateway, in the order in which they start.
    private let services: [any Service]

    /// - Parameters:
    ///   - recent: stores the latest errors for operators.
    ///   - log: receives what the operator must know about a new store.
    /// - Throws: one line for the operator: `UsageError`, `TLSFileError`, `ListenError` or `CommandFailure`.
    init(
        _ configuration: ServeConfiguration, counters: ServiceCounters = ServiceCounters(), recent: RecentOperations = RecentOperations(),
        log: Logger? = nil
    ) async throws {
        var settings = configuration.settings
        let homes = settings.cluster?.node.homes
        let (operatorLog, inbox) = (OperatorLog(recent: recent), DispatchInbox(relay: homes?.relay))
        let assistants = AssistantDirectory(configured: configuration.assistants)
        let backend = try configuration.store.map { store in
            try BackendServices(
                store: try store.open(settings.cluster == nil ? .owner : .node, log, observing: { counters.record($0, $1, $2) }),
                externalIssuer: configuration.users.externalIssuer, publicURL: settings.cluster?.url ?? configuration.publicURL,
                recordingsDirectory: configuration.users.recordsSessions ? store.directory.map { $0 + "/recordings" } : nil,
                dispatch: inbox, webhookEndpoints: configuration.external.webhooks?.urls ?? [], assistants: assistants,
                accountSettings: configuration.users.accounts, homes: homes, operatorLog: operatorLog)
        }
        if let recovery = backend?.recovery {
            settings.cluster?.prepare = { await recovery.prepare($0, $1, log) }
            settings.cluster?.handOver = { if $0 == RoomHomes.coordinatorRoom { await recovery.settleCalls() } }
            settings.cluster?.forget = { recovery.forget($0, inbox) }
        }
        if let notices = backend?.notices { settings.cluster?.apply = { await notices.apply($0) } }
        let summarizer: any Summarizer =
            try configuration.external.chat.map { ChatSummarizer($0, sending: try OutgoingClient().outgoing(timeout: .seconds(60))) }
            ?? ExtractiveSummarizer()
        let toolClient = try OutgoingClient(authority: configuration.external.webhooks?.authority)
        let player = RoomClipPlayer()
        var workers: DispatchService?
        var stored: (events: AuditEventWriter, calls: CallService, speech: SpeechService?)?
        gateway = try Gateway(
            settings: settings, keys: configuration.keys, auditEvents: backend?.auditEvents, recordings: backend?.recordings,
            recordingLog: backend?.recordingLog, calls: backend?.callInbox, dispatch: inbox, services: counters, operatorLog: operatorLog
        ) { rooms, keys in
            let tools = ToolCaller(
                assistants, counters: counters, signer: { configuration.external.webhooks?.key(in: keys.current) ?? keys.current.signer },
                sending: { toolClient.outgoing(timeout: $0, responseBytesMax: $1) })
            let dispatch = DispatchService(
                inbox: inbox, rooms: rooms, keys: keys, publicURL: configuration.publicURL, rules: configuration.dispatchRules,
                calls: backend?.callInbox, server: settings.serverInfo, definition: { assistants.definition($0) },
                definedAssistants: { assistants.ids })
            workers = dispatch
            let routes =
                AssistantRoutes.routes(
                    assistants, keys: keys, store: backend?.store.assistants, changed: { await rooms.notifyOtherNodes(.assistants) })
                + ToolRoutes.routes(tools, keys: keys)
                + DispatchRoutes.routes(dispatch, keys: keys)
                + LiveKitRoutes.routes(rooms, dispatch, backend?.roomRecordings, keys: keys)
                + (configuration.isDevelopment
                    ? DevelopmentRoutes.routes(
                        keys: keys, publicURL: configuration.publicURL, assistants: assistants, dispatch: inbox.registry) : [])
            guard let backend else { return routes }
            let sessions = backend.sessionService(rooms, keys: keys)
            let calls = backend.callService(rooms, keys: keys, server: settings.serverInfo, settings: configuration.users.calls)
            // Without speech models or another provider, `/v1/speech` responds with 503.
            let speech = ClipGenerator(server: configuration.external.speechServer).map {
                backend.speechService($0, rooms, keys: keys, player: player, counters: counters)
            }
            stored = (backend.auditEventWriter(sessions, summarizer: summarizer, counters: counters), calls, speech)
            return backend.routes(sessions, calls) + routes
                + SpeechRoutes.routes(speech, accounts: backend.accounts, assistants: assistants, keys: keys)
        }
        guard let workers else { preconditionFailure("a gateway asks for its routes") }
        player.connect(toHost: settings.host, port: gateway.port)
        (self.assistants, self.dispatch, self.backend) = (assistants, workers, backend)

        var services: [any Service] = []
        if let backend, let stored {
            services.append(LastToLeave(service: stored.events))
            if let webhooks = configuration.external.webhooks {
                let client = try OutgoingClient(authority: webhooks.authority)
                services.append(
                    WebhookService(
                        webhooks, keys: gateway.keys, store: backend.store.webhooks, sending: client.outgoing(), counters: counters,
                        operatorLog: operatorLog))
            }
            let client = try OutgoingClient(connections: .shared)
            services.append(
                backend.pushService(calls: stored.calls, apns: configuration.external.apns, sending: client.outgoing(), counters: counters))
            if let speech = stored.speech { services.append(speech) }
            services.append(LastToLeave(service: stored.calls))
            if let recovery = backend.recovery, let node = settings.cluster?.node {
                services.append(RoomAdoption(recovery: recovery, rooms: gateway.rooms, running: { node.running }))
            }
        }
        self.services = services + [LastToLeave(service: workers)]
    }

    /// Serves until the gateway has drained, then closes the store.
    ///
    /// - Parameter others: services that run as long.
    func run(with others: any Service...) async throws {
        try await backend?.restore()
        var group = ServiceGroupConfiguration(
            services: [.init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup)]
                + (others + services).map { .init(service: $0, successTerminationBehavior: .ignore) },
            logger: Self.quiet)
        group.maximumGracefulShutdownDuration = Self.shutdownTimeout
        try await ServiceGroup(configuration: group).run()
        try backend?.store.close()
    }

    /// How long services may take to write what the gateway has left them. It starts once the gateway has stopped, that is after the drain.
    private static let shutdownTimeout = Duration.seconds(30)

    /// Silences the service group, whose lifecycle messages do not help operators.
    private static var quiet: Logger {
        var logger = Logger(label: "patchbay.lifecycle")
        logger.logLevel = .error
        return logger
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

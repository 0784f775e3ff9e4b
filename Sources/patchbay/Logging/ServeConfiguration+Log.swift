import Backend
import Engine
import Gateway
import HTTPServer
import Identity
import Logging
import Sockets
import Store
import TLSFastPath
import Wire

/// Level and format of the log.
struct LogSettings {
    var level: Logger.Level
    var format: LogFormat

    /// Sends all logging of the process to standard error. Call once.
    ///
    /// - Parameter noteDropped: called with each number of dropped lines.
    func start(noteDropped: @escaping @Sendable (Int) -> Void) -> LogWriter {
        let writer = LogWriter(as: format, noteDropped: noteDropped)
        let request = Logger.MetadataProvider { RequestID.current.map { ["request": .string($0)] } ?? [:] }
        LoggingSystem.bootstrap(
            { label, provider in QueuedLogHandler(label: label, level: level, writer: writer, provider: provider) },
            metadataProvider: request)
        return writer
    }
}

extension ServeConfiguration {
    /// Logs the configuration in force, and its questionable parts.
    func report(to log: Logger) {
        log.info("configuration", metadata: summary)
        for warning in warnings { log.warning("questionable setting", metadata: ["reason": .string(warning)]) }
        guard let certificate = try? settings.tls.check() else { return }
        for problem in CertificateCheck.problems(certificate, publicURL: publicURL, now: WallClock.seconds) {
            log.warning("questionable certificate", metadata: ["reason": .string(problem.text)])
        }
    }

    /// The settings in force by key, without secrets. URLs may contain some, so only their hosts are included.
    var summary: Logger.Metadata {
        let room = settings.room
        return [
            "issuers": .array(keys.issuers.map { .string($0) }),
            "assistants": .array(assistants.map { .string($0.id) }),
            "dispatch": .array(dispatchRules.map { .string("\($0.room): \($0.assistant)") }),
            "version": .string(settings.version), "host": .string(settings.host), "port": .stringConvertible(settings.port),
            "shards": .stringConvertible(settings.shardCount), "shard_ports": .string(settings.edge.shardPorts.text),
            "cert": .string(settings.tls.certificatePath), "key": .string(settings.tls.privateKeyPath),
            "node": .string(settings.nodeName), "public_url": .string(publicURL.map(EndpointName.host) ?? ""),
            "plain_port": .string(settings.edge.plain?.text ?? "off"), "metrics_port": .string(settings.edge.operations?.text ?? "off"),
            "trusted_proxies": .array(settings.edge.proxies.networks.map { .stringConvertible($0) }),
            "proxy_protocol": .stringConvertible(settings.edge.proxies.usesProxyProtocol),
            "public_metrics": .stringConvertible(settings.edge.publishesOperations),
            "pages": .stringConvertible(settings.edge.servesPages),
            "registrations_per_hour": .stringConvertible(accounts.registrationsPerHour),
            "allowed_origins": .array(settings.edge.allowedOrigins.map { .string($0) }),
            "connections_max": .stringConvertible(settings.connectionsMax),
            "drain_timeout": .stringConvertible(settings.drainTimeout.components.seconds),
            "resume_seconds": .stringConvertible(room.resumeWindow.components.seconds),
            "room": .dictionary([
                "auto_create": .stringConvertible(settings.createsRooms),
                "empty_timeout": .stringConvertible(room.emptyTimeout.components.seconds),
                "departure_timeout": .stringConvertible(room.departureTimeout.components.seconds),
                "max_participants": .stringConvertible(room.maxParticipants),
                "silence_limit": .stringConvertible(room.silenceLimit.components.seconds),
            ]),
            "tls": .dictionary(["fast_path": .string((settings.recordLayer as? TLSFastPath)?.mode.rawValue ?? "off")]),
            "data": .string(store?.directory ?? ""), "master_key_file": .string(store?.masterKeyFile ?? ""),
            "record_sessions": .stringConvertible(recordsSessions),
            "users": .string(externalIssuer?.keys.issuers.map(EndpointName.host).joined(separator: ", ") ?? ""),
            "accounts": .dictionary(["confirm_email": .stringConvertible(accounts.confirmsEmail)]),
            "push": .string(apns.map { "apns " + $0.topic } ?? "webhook"),
            "webhook": .array((webhooks?.urls ?? []).map { .string(EndpointName.host(of: $0)) }),
            "webhook_api_key": .string(webhooks?.key.issuer ?? ""), "webhook_ca": .string(webhooks?.trust.authorityPath ?? ""),
            "summaries": .string(chat.map { EndpointName.host(of: $0.url) } ?? "built-in"), "summaries_model": .string(chat?.model ?? ""),
            "log_level": .string(log.level.rawValue), "log_format": .string(log.format.rawValue),
            "dev": .stringConvertible(isDevelopment),
        ]
    }
}

extension ClientTrust {
    /// Nil without an authority besides the system's.
    fileprivate var authorityPath: String? { if case .authority(let path) = self { path } else { nil } }
}

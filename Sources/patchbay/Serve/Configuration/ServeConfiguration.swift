import Backend
import Engine
import Foundation
import Gateway
import Identity
import Logging
import Sockets
import Store
import TLSRecords
import Wire
import YAMLSettings

/// The validated configuration of `serve` from file, environment and flags.
struct ServeConfiguration {
    var settings: GatewaySettings
    var keys: KeyRing
    /// The store, if there is one.
    var store: StoreSettings?
    var publicURL: String?
    var users: UserSettings
    var external: ExternalServices
    var assistants: [AssistantDefinition]
    /// Assistants for rooms by name.
    var dispatchRules: [DispatchRule]
    var log: LogSettings
    var isDevelopment: Bool
    /// Questionable settings, one sentence each.
    var warnings: [String]
    /// The settings in force by key, without secrets, for the log.
    var summary: Logger.Metadata

    /// - Parameters:
    ///   - file: that of `flags`, if it has been read already.
    ///   - environment: the variables of the process, except for gateways of the command itself.
    /// - Throws: `UsageError` or `ConfigurationError`, one line that names what is wrong and where.
    static func load(
        flags: ServeCommand, file: ConfigurationFile? = nil, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ServeConfiguration {
        let warnings = try EnvironmentSettings.check(environment)
        let file = try file ?? ConfigurationFile.load(flags: flags, environment: environment)
        let reader = SettingsReader(flags: flags.values, environment: environment, file: file)

        let host = try reader.text("host")
        guard Listener.isAddress(host) else {
            throw UsageError(
                "host: \"\(host)\" is not a numeric address; use 127.0.0.1 or ::1 for this machine only, 0.0.0.0 or :: for all interfaces")
        }
        if flags.dev, host != "127.0.0.1", host != "::1" {
            throw UsageError("--dev listens on 127.0.0.1 or ::1 only, because its key is public; omit --dev or --host \(host)")
        }
        let shardCount = try reader.number(ifSet: "shards")
        let port = try reader.number("port")
        let edge = try EdgeSettings(reader, origins: try file?.allowedOrigins() ?? [], shardCount: shardCount, isDevelopment: flags.dev)
        try edge.checkPorts(besides: EdgeSettings.Place(host: host, port: port), shardCount: shardCount ?? Processors.usable)
        let files = try tlsFiles(certificate: try reader.text(ifSet: "cert"), key: try reader.text(ifSet: "key"), isDevelopment: flags.dev)
        let room = RoomSettings(
            emptyTimeout: try reader.seconds("room.empty_timeout"), departureTimeout: try reader.seconds("room.departure_timeout"),
            resumeWindow: try reader.seconds("resume_seconds"), maxParticipants: try reader.number("room.max_participants"),
            silenceLimit: try reader.seconds("room.silence_limit"))
        var settings = GatewaySettings(
            host: host,
            port: port,
            shardCount: shardCount ?? Processors.usable,
            edge: edge,
            tls: files,
            room: room,
            createsRooms: try reader.flag("room.auto_create"),
            drainTimeout: try reader.seconds("drain_timeout"),
            connectionsMax: try reader.number("connections_max"),
            fastPath: TLSFastPath(try reader.choice("tls.fast_path")),
            nodeName: try reader.text(ifSet: "node") ?? ProcessInfo.processInfo.hostName,
            version: Version.text, release: Version.commit == nil ? nil : Version.text)
        let database = try reader.text(ifSet: "database").map { target in
            try StoreSettings.database(target, passwordFile: try reader.text(ifSet: "database_password_file"))
        }
        let (data, masterKeyFile) = try (reader.text(ifSet: "data"), reader.text(ifSet: "master_key_file"))
        let store =
            database != nil || data != nil
            ? StoreSettings(
                directory: data, database: database,
                masterKey: flags.masterKey == nil ? environment["PATCHBAY_MASTER_KEY"].map(SecretText.init) : nil,
                masterKeyFile: masterKeyFile, isDevelopment: flags.dev)
            : nil
        if store != nil, data == nil, try reader.flag("record_sessions") {
            throw UsageError("record_sessions: recordings are files; set `data`, the directory for them")
        }
        settings.cluster = try store.flatMap { try ClusterSettings(reader, masterKey: $0.key(.beside, nil)) }
        let keys = try makeKeys(file: file, environment: environment["PATCHBAY_KEYS"], isDevelopment: flags.dev)
        if store != nil, keys.signer == nil {
            throw UsageError("data: sessions need a key that signs room tokens; add one with a secret (HS256) to `keys`")
        }
        let publicURL = try reader.text(ifSet: "public_url")
        if store != nil, publicURL == nil, !flags.dev {
            throw UsageError("data: set `public_url`, the URL given to clients, such as `public_url: wss://voice.example`")
        }
        if !flags.dev, let warning = keys.warnings.first { throw UsageError("keys: \(warning)") }
        let webhooks = try WebhookSettings(reader, keys)
        let assistants = try file?.assistants() ?? []
        let dispatchRules = try file?.dispatchRules() ?? []
        try reader.refuseIdleSettings()
        let users = try UserSettings(reader, file, isDevelopment: flags.dev)
        return ServeConfiguration(
            settings: settings,
            keys: keys,
            store: store,
            publicURL: publicURL,
            users: users,
            external: try ExternalServices(reader, webhooks: webhooks),
            assistants: assistants,
            dispatchRules: dispatchRules,
            log: LogSettings(level: try reader.choice("log_level"), format: try reader.choice("log_format")),
            isDevelopment: flags.dev,
            warnings: warnings + edge.warnings,
            summary: try reader.summary([
                "shards": .stringConvertible(settings.shardCount), "shard_ports": .string(edge.shardPorts.text),
                "cert": .string(files.certificatePath), "key": .string(files.privateKeyPath), "node": .string(settings.nodeName),
                "public_metrics": .stringConvertible(edge.publishesOperations),
                "trusted_proxies": .array(edge.proxies.networks.map { .stringConvertible($0) }),
                "allowed_origins": .array(edge.allowedOrigins.map { .string($0) }),
                "accounts.registrations_per_hour": .stringConvertible(users.accounts.registrationsPerHour),
                "assistants": .array(assistants.map { .string($0.id) }),
                "dispatch": .array(dispatchRules.map { .string("\($0.room): \($0.assistant)") }),
            ]).merging([
                "version": .string(settings.version), "dev": .stringConvertible(flags.dev),
                "issuers": .array(keys.issuers.map { .string($0) }),
            ]) { $1 })
    }

    private static func tlsFiles(certificate: String?, key: String?, isDevelopment: Bool) throws -> TLSFiles {
        switch (certificate, key) {
        case (let certificate?, let key?): return TLSFiles(certificatePath: certificate, privateKeyPath: key)
        case (let certificate?, nil): throw UsageError("the certificate \(certificate) has no private key; pass --key, or set `key`, too")
        case (nil, let key?): throw UsageError("the private key \(key) has no certificate; pass --cert, or set `cert`, too")
        case (nil, nil) where isDevelopment: return try DevelopmentCertificate.prepare().files
        case (nil, nil):
            throw UsageError(
                "no certificate; set `cert` and `key` in the configuration, or pass --cert and --key, or --dev for a development certificate"
            )
        }
    }

    private static func makeKeys(file: ConfigurationFile?, environment: String?, isDevelopment: Bool) throws -> KeyRing {
        var issuers = try file?.issuers() ?? []
        if let environment { issuers += try IssuerReader.issuers(inVariable: environment) }
        if isDevelopment, !issuers.contains(where: { $0.issuer == "devkey" }) {
            issuers.append(IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret")))
        }
        guard !issuers.isEmpty else {
            throw UsageError("no keys, so no client could connect; add `keys: {my-app: a-long-secret}` to the configuration, or use --dev")
        }
        do {
            return try KeyRing(issuers)
        } catch {
            throw UsageError("keys: \(error)")
        }
    }
}

/// Settings of users: their issuer, accounts, sessions and calls.
struct UserSettings {
    /// Nil if only the gateway issues users' tokens.
    var externalIssuer: ExternalIssuer?
    var recordsSessions: Bool
    var accounts: AccountSettings
    var calls: CallSettings

    /// - Parameter isDevelopment: without a limit of registrations by default.
    fileprivate init(_ reader: SettingsReader, _ file: ConfigurationFile?, isDevelopment: Bool) throws {
        accounts = AccountSettings(
            confirmsEmail: try reader.flag("accounts.confirm_email"),
            registrationsPerHour: try reader.number(ifSet: "accounts.registrations_per_hour")
                ?? (isDevelopment ? 0 : reader.number("accounts.registrations_per_hour")))
        externalIssuer = try file?.outsideIssuer().map { outside in
            do {
                return ExternalIssuer(keys: try KeyRing([outside.issuer]), audience: outside.audience)
            } catch {
                throw UsageError("users: \(error)")
            }
        }
        recordsSessions = try reader.flag("record_sessions")
        calls = CallSettings(waiting: try reader.choice("calls.waiting"), ringTime: try reader.seconds("calls.ring_timeout"))
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

    /// The ports that are bound, for the log.
    func ports(of gateway: Gateway) -> Logger.Metadata {
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
}

extension ConfigurationFile {
    /// The file of `--config` or PATCHBAY_CONFIG; nil if neither is given.
    static func load(
        flags: ServeCommand, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ConfigurationFile? {
        try (flags.config ?? environment["PATCHBAY_CONFIG"]).map(ConfigurationFile.init(path:))
    }
}

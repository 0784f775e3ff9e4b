import Backend
import Engine
import Foundation
import Gateway
import Identity
import Logging
import OutgoingHTTP
import PatchbayAgents
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
    var externalIssuer: ExternalIssuer?
    var publicURL: String?
    var recordsSessions: Bool
    var accounts: AccountSettings
    var calls: CallSettings
    /// Nil: pushes are webhooks.
    var apns: APNsSettings?
    /// Nil disables webhooks.
    var webhooks: WebhookSettings?
    var assistants: [AssistantDefinition]
    /// Assistants for rooms by name.
    var dispatchRules: [DispatchRule]
    /// The model that writes summaries; nil uses the built-in summarizer.
    var chat: ChatSummarizer.Settings?
    /// The speech server for clips, in addition to the embedded synthesizer.
    var speechServer: SpeechServer?
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
        let webhooks = try makeWebhooks(reader, keys)
        let assistants = try file?.assistants() ?? []
        let dispatchRules = try file?.dispatchRules() ?? []
        try reader.refuseIdleSettings()
        let accounts = AccountSettings(
            confirmsEmail: try reader.flag("accounts.confirm_email"),
            registrationsPerHour: try reader.number(ifSet: "accounts.registrations_per_hour")
                ?? (flags.dev ? 0 : reader.number("accounts.registrations_per_hour")))
        return ServeConfiguration(
            settings: settings,
            keys: keys,
            store: store,
            externalIssuer: try file?.outsideIssuer().map { outside in
                do {
                    return ExternalIssuer(keys: try KeyRing([outside.issuer]), audience: outside.audience)
                } catch {
                    throw UsageError("users: \(error)")
                }
            },
            publicURL: publicURL,
            recordsSessions: try reader.flag("record_sessions"),
            accounts: accounts,
            calls: CallSettings(waiting: try reader.choice("calls.waiting"), ringTime: try reader.seconds("calls.ring_timeout")),
            apns: try makeAPNs(reader),
            webhooks: webhooks,
            assistants: assistants,
            dispatchRules: dispatchRules,
            chat: try reader.text(ifSet: "summaries.url").map { url in
                do { _ = try OutgoingURL(url) } catch { throw UsageError("summaries.url: \(error)") }
                guard let model = try reader.text(ifSet: "summaries.model") else { throw UsageError("summaries.model is missing") }
                return ChatSummarizer.Settings(
                    url: url, model: model, authorization: try reader.text(ifSet: "summaries.api_key").map { "Bearer " + $0 })
            },
            speechServer: try makeSpeechServer(reader),
            log: LogSettings(level: try reader.choice("log_level"), format: try reader.choice("log_format")),
            isDevelopment: flags.dev,
            warnings: warnings + edge.warnings,
            summary: try reader.summary([
                "shards": .stringConvertible(settings.shardCount), "shard_ports": .string(edge.shardPorts.text),
                "cert": .string(files.certificatePath), "key": .string(files.privateKeyPath), "node": .string(settings.nodeName),
                "public_metrics": .stringConvertible(edge.publishesOperations),
                "trusted_proxies": .array(edge.proxies.networks.map { .stringConvertible($0) }),
                "allowed_origins": .array(edge.allowedOrigins.map { .string($0) }),
                "accounts.registrations_per_hour": .stringConvertible(accounts.registrationsPerHour),
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

    private static func makeWebhooks(_ reader: SettingsReader, _ keys: KeyRing) throws -> WebhookSettings? {
        guard let urls = try reader.texts(ifSet: "webhook.urls"), !urls.isEmpty else { return nil }
        guard urls.count <= WebhookSettings.urlsMax else {
            throw UsageError("webhook.urls: \(urls.count) exceed the maximum of \(WebhookSettings.urlsMax); remove some")
        }
        for (index, url) in urls.enumerated() {
            do { _ = try OutgoingURL(url) } catch { throw UsageError("webhook.urls: \(error)") }
            guard !urls[..<index].contains(url) else { throw UsageError("webhook.urls: \(url) is listed twice; remove one") }
        }
        let issuer = try reader.text(ifSet: "webhook.api_key")
        guard let key = issuer.map(keys.key(of:)) ?? keys.signer else {
            throw UsageError(
                issuer.map { "webhook.api_key: `keys` has no \"\($0)\"" }
                    ?? "webhook: signing requires a key with a secret (HS256); add one to `keys`")
        }
        guard key.algorithm == .hs256 else {
            throw UsageError("webhook.api_key: \"\(key.issuer)\" has no secret to sign with; use an HS256 key")
        }
        let authority = try reader.text(ifSet: "webhook.ca")
        if let authority, !FileManager.default.isReadableFile(atPath: authority) {
            throw UsageError("webhook.ca: \(authority) cannot be read")
        }
        return WebhookSettings(urls: urls, key: key, issuer: issuer, authority: authority)
    }

    private static func makeSpeechServer(_ reader: SettingsReader) throws -> SpeechServer? {
        guard let url = try reader.text(ifSet: "speech.url") else { return nil }
        guard let model = try reader.text(ifSet: "speech.model") else { throw UsageError("speech.model is missing") }
        let (name, voices) = (try reader.text("speech.provider"), try reader.texts(ifSet: "speech.voices") ?? [])
        if name == SpeechProvider.embedded.name { throw UsageError("speech.provider: \(name) is the built-in provider; use another name") }
        if let fault = AssistantDefinition.fault(inIdentifier: name) { throw UsageError("speech.provider: \(name) \(fault)") }
        for (index, voice) in voices.enumerated() {
            if let fault = AssistantDefinition.fault(inIdentifier: voice) { throw UsageError("speech.voices: \"\(voice)\" \(fault)") }
            guard !voices[..<index].contains(voice) else { throw UsageError("speech.voices: \(voice) is listed twice; remove one") }
        }
        do {
            return try SpeechServer(
                name: name, voices: voices.isEmpty ? AssistantDefinition.voices : voices, url: url, model: model,
                key: try reader.text(ifSet: "speech.api_key"))
        } catch let error as ProviderError {
            // The message uses the field names of an assistant's definition.
            let fault = error.message.replacing("base_url", with: "the URL").replacing("api_key_env", with: "speech.api_key")
            throw UsageError("speech.url: \(fault)")
        }
    }

    private static func makeAPNs(_ reader: SettingsReader) throws -> APNsSettings? {
        let names = ["key_file", "key_id", "team_id", "topic"].map { "push.apns.\($0)" }
        let values = try names.map { try reader.text(ifSet: $0) }
        guard values[0] != nil else { return nil }
        for (name, value) in zip(names, values) where value?.isEmpty ?? true { throw UsageError("\(name) is missing") }
        let texts = values.compactMap(\.self)
        guard let pem = try? String(contentsOfFile: texts[0], encoding: .utf8) else {
            throw UsageError("push.apns.key_file: cannot read \(texts[0]); check the path and its permissions")
        }
        guard let key = ES256Key(pem: SecretText(pem)) else {
            throw UsageError(
                "push.apns.key_file: \(texts[0]) is not a private key on P-256; use the .p8 file from Apple's developer account")
        }
        return APNsSettings(
            key: key, keyID: texts[1], teamID: texts[2], topic: texts[3],
            environment: try reader.choice("push.apns.environment"))
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

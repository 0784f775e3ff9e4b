import Backend
import Configuration
import Engine
import Foundation
import Gateway
import Identity
import Logging
import OutgoingHTTP
import Sockets
import Store
import TLSFastPath
import Wire

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
    /// Nil: pushes are webhooks.
    var apns: APNsSettings?
    /// Nil disables webhooks.
    var webhooks: WebhookSettings?
    var assistants: [AssistantDefinition]
    /// Assistants for rooms by name.
    var dispatchRules: [DispatchRule]
    /// The model that writes summaries; nil uses the built-in summarizer.
    var chat: ChatSummarizer.Settings?
    var log: LogSettings
    var isDevelopment: Bool
    /// Questionable settings, one sentence each.
    var warnings: [String]

    /// - Throws: `UsageError`, one line that names what is wrong and where.
    static func load(flags: ServeCommand) async throws -> ServeConfiguration {
        try await load(flags: flags, file: ConfigurationFile.load(flags: flags))
    }

    /// - Throws: as above.
    static func load(flags: ServeCommand, file: ConfigurationFile?) async throws -> ServeConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let warnings = try EnvironmentSettings.check(environment)
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: flagValues(flags)),
            EnvironmentVariablesProvider().prefixKeys(with: "patchbay"),
        ]
        if let file { providers += try await file.providers() }
        let reader = SettingsReader(config: ConfigReader(providers: providers))

        let host = try reader.text("host") ?? "127.0.0.1"
        guard Listener.isAddress(host) else {
            throw UsageError(
                "host: \"\(host)\" is not a numeric address; use 127.0.0.1 or ::1 for this machine only, 0.0.0.0 or :: for all interfaces")
        }
        if flags.dev, host != "127.0.0.1", host != "::1" {
            throw UsageError("--dev listens on 127.0.0.1 or ::1 only, because its key is public; omit --dev or --host \(host)")
        }
        let shardCount = try reader.number("shards", in: 1...256)
        let port = try reader.number("port", in: 0...65_535) ?? 7880
        let edge = try EdgeSettings(reader, origins: try file?.allowedOrigins() ?? [], shardCount: shardCount, isDevelopment: flags.dev)
        try edge.checkPorts(besides: EdgeSettings.Place(host: host, port: port), shardCount: shardCount ?? Processors.usable)
        let files = try tlsFiles(certificate: try reader.text("cert"), key: try reader.text("key"), isDevelopment: flags.dev)
        let room = RoomSettings(
            emptyTimeout: .seconds(try reader.number("room.empty_timeout", in: 0...86_400) ?? 300),
            departureTimeout: .seconds(try reader.number("room.departure_timeout", in: 0...86_400) ?? 20),
            resumeWindow: .seconds(try reader.number("resume_seconds", in: 0...60) ?? 20),
            maxParticipants: try reader.number("room.max_participants", in: 0...100_000) ?? 0,
            silenceLimit: .seconds(try reader.number("room.silence_limit", in: 1...3_600) ?? 10))
        let settings = GatewaySettings(
            host: host,
            port: port,
            shardCount: shardCount ?? Processors.usable,
            edge: edge,
            tls: files,
            room: room,
            createsRooms: try reader.flag("room.auto_create") ?? true,
            drainTimeout: .seconds(try reader.number("drain_timeout", in: 0...86_400) ?? 600),
            connectionsMax: try reader.number("connections_max", in: 1...1_000_000) ?? 60_000,
            recordLayer: TLSFastPath(try reader.choice("tls.fast_path", TLSFastPath.Mode.self) ?? .auto),
            nodeName: try reader.text("node") ?? ProcessInfo.processInfo.hostName,
            version: Version.text)
        let store = try reader.text("data").map { directory in
            StoreSettings(
                directory: directory, masterKey: flags.masterKey == nil ? environment["PATCHBAY_MASTER_KEY"].map(SecretText.init) : nil,
                masterKeyFile: try reader.text("master_key_file"), isDevelopment: flags.dev)
        }
        let keys = try makeKeys(file: file, environment: environment["PATCHBAY_KEYS"], isDevelopment: flags.dev)
        if store != nil, keys.signer == nil {
            throw UsageError("data: sessions need a key that signs room tokens; add one with a secret (HS256) to `keys`")
        }
        let publicURL = try reader.text("public_url")
        if store != nil, publicURL == nil, !flags.dev {
            throw UsageError("data: set `public_url`, the URL given to clients, such as `public_url: wss://voice.example`")
        }
        if !flags.dev, let warning = keys.warnings.first { throw UsageError("keys: \(warning)") }
        let webhooks = try makeWebhooks(reader, keys)
        try refuseIdleSettings(file, reader, hasStore: store != nil)
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
            recordsSessions: try reader.flag("record_sessions") ?? false,
            accounts: AccountSettings(
                confirmsEmail: try reader.flag("accounts.confirm_email") ?? false,
                registrationsPerHour: try reader.number("accounts.registrations_per_hour", in: 0...1_000_000) ?? (flags.dev ? 0 : 30)),
            apns: try makeAPNs(reader),
            webhooks: webhooks,
            assistants: try file?.assistants() ?? [],
            dispatchRules: try file?.dispatchRules() ?? [],
            chat: try reader.text("summaries.url").map { url in
                do { _ = try OutgoingURL(url) } catch { throw UsageError("summaries.url: \(error)") }
                guard let model = try reader.text("summaries.model") else { throw UsageError("summaries.model is missing") }
                return ChatSummarizer.Settings(
                    url: url, model: model, authorization: try reader.text("summaries.api_key").map { "Bearer " + $0 })
            },
            log: LogSettings(
                level: try reader.choice("log_level", Logger.Level.self) ?? .info,
                format: try reader.choice("log_format", LogFormat.self) ?? .text),
            isDevelopment: flags.dev, warnings: warnings + edge.warnings)
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

    func makeSummarizer() async throws -> any Summarizer {
        guard let chat else { return ExtractiveSummarizer() }
        return ChatSummarizer(chat, sending: try OutgoingClient().outgoing(timeout: .seconds(60)))
    }

    /// The generator of speech clips. Nil, without the speech models, answers `/v1/speech` with 503.
    func makeSpeechGenerator() -> (any SpeechGenerator)? { EmbeddedSpeechGenerator() }

    private static func flagValues(_ flags: ServeCommand) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        func set(_ name: String, _ content: ConfigContent?) {
            if let content {
                values[AbsoluteConfigKey(name.split(separator: ".").map(String.init))] = ConfigValue(content, isSecret: false)
            }
        }
        set("host", flags.host.map(ConfigContent.string))
        set("port", flags.port.map(ConfigContent.int))
        set("cert", flags.cert.map(ConfigContent.string))
        set("key", flags.key.map(ConfigContent.string))
        set("shards", flags.shards.map(ConfigContent.int))
        set("data", flags.data.map(ConfigContent.string))
        set("master_key_file", flags.masterKey.map(ConfigContent.string))
        set("tls.fast_path", flags.tlsFastPath.map(ConfigContent.string))
        set("log_level", flags.logLevel.map(ConfigContent.string))
        set("log_format", flags.logFormat.map(ConfigContent.string))
        return values
    }

    /// - Throws: if a setting has no effect because another one is missing.
    private static func refuseIdleSettings(_ file: ConfigurationFile?, _ reader: SettingsReader, hasStore: Bool) throws {
        if try reader.texts("webhook.urls")?.isEmpty ?? true {
            for key in ["webhook.api_key", "webhook.ca"] where try reader.text(key) != nil {
                throw UsageError("\(key): has no effect without endpoints; set `webhook.urls`, or remove it")
            }
            if try reader.flag("accounts.confirm_email") == true {
                throw UsageError("accounts.confirm_email: nobody would send the codes to users; set `webhook.urls`, or remove it")
            }
        }
        if try reader.text("summaries.url") == nil {
            for key in ["summaries.model", "summaries.api_key"] where try reader.text(key) != nil {
                throw UsageError("\(key): has no effect without a model's URL; set `summaries.url`, or remove it")
            }
        }
        if hasStore { return }
        var unused: [String] = []
        if try reader.text("master_key_file") != nil { unused.append("master_key_file") }
        if try reader.texts("webhook.urls")?.isEmpty == false { unused.append("webhook.urls") }
        if try reader.flag("record_sessions") == true { unused.append("record_sessions") }
        if try reader.text("summaries.url") != nil { unused.append("summaries") }
        if try reader.number("accounts.registrations_per_hour", in: 0...1_000_000) != nil {
            unused.append("accounts.registrations_per_hour")
        }
        if try reader.flag("accounts.confirm_email") == true { unused.append("accounts.confirm_email") }
        if try reader.text("push.apns.key_file") != nil { unused.append("push") }
        if try file?.outsideIssuer() != nil { unused.append("users") }
        if let key = unused.first { throw UsageError("\(key): has no effect without accounts and sessions; set `data`, or remove it") }
    }

    private static func makeWebhooks(_ reader: SettingsReader, _ keys: KeyRing) throws -> WebhookSettings? {
        guard let urls = try reader.texts("webhook.urls"), !urls.isEmpty else { return nil }
        guard urls.count <= WebhookSettings.urlsMax else {
            throw UsageError("webhook.urls: \(urls.count) exceed the maximum of \(WebhookSettings.urlsMax); remove some")
        }
        for (index, url) in urls.enumerated() {
            do { _ = try OutgoingURL(url) } catch { throw UsageError("webhook.urls: \(error)") }
            guard !urls[..<index].contains(url) else { throw UsageError("webhook.urls: \(url) is listed twice; remove one") }
        }
        let issuer = try reader.text("webhook.api_key")
        guard let key = issuer.map(keys.key(of:)) ?? keys.signer else {
            throw UsageError(
                issuer.map { "webhook.api_key: `keys` has no \"\($0)\"" }
                    ?? "webhook: signing requires a key with a secret (HS256); add one to `keys`")
        }
        guard key.algorithm == .hs256 else {
            throw UsageError("webhook.api_key: \"\(key.issuer)\" has no secret to sign with; use an HS256 key")
        }
        let authority = try reader.text("webhook.ca")
        if let authority, !FileManager.default.isReadableFile(atPath: authority) {
            throw UsageError("webhook.ca: \(authority) cannot be read")
        }
        return WebhookSettings(urls: urls, key: key, issuer: issuer, trust: authority.map(ClientTrust.authority) ?? .system)
    }

    private static func makeAPNs(_ reader: SettingsReader) throws -> APNsSettings? {
        let names = ["key_file", "key_id", "team_id", "topic"].map { "push.apns.\($0)" }
        let values = try names.map(reader.text)
        guard values.contains(where: { $0 != nil }) else { return nil }
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
            environment: try reader.choice("push.apns.environment", APNsSettings.Environment.self) ?? .production)
    }

    private static func makeKeys(file: ConfigurationFile?, environment: String?, isDevelopment: Bool) throws -> KeyRing {
        var issuers = try file?.issuers() ?? []
        if let environment { issuers += try ConfigurationFile(yaml: "keys: {\(environment)}", name: "PATCHBAY_KEYS").issuers() }
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

/// Reads settings from all sources and reports invalid ones in one line.
struct SettingsReader {
    let config: ConfigReader

    func text(_ key: String) throws -> String? {
        try present(key, "text") { try config.requiredString(forKey: $0) }
    }

    func texts(_ key: String) throws -> [String]? {
        try present(key, "texts, separated by commas") { try config.requiredStringArray(forKey: $0) }
    }

    func number(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let value = try present(key, "a whole number", { try config.requiredInt(forKey: $0) }) else { return nil }
        guard range ~= value else { throw UsageError("\(key): \(value) is not between \(range.lowerBound) and \(range.upperBound)") }
        return value
    }

    func flag(_ key: String) throws -> Bool? {
        try present(key, "true or false") { try config.requiredBool(forKey: $0) }
    }

    func choice<Value: RawRepresentable<String> & CaseIterable>(_ key: String, _: Value.Type) throws -> Value? {
        guard let text = try text(key) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw UsageError("\(key): \"\(text)\" is not one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// The value; nil if no source has it.
    ///
    /// - Throws: if it has the wrong type. That of a file has been checked (`ConfigurationSchema`), so the environment has it.
    private func present<Value>(_ key: String, _ expected: String, _ read: (ConfigKey) throws -> Value) throws -> Value? {
        let key = ConfigKey(key.split(separator: ".").map(String.init))
        do {
            return try read(key)
        } catch {
            // The library's error type is not public; only its text distinguishes missing from invalid values.
            if "\(error)".hasPrefix("Missing required") { return nil }
            throw UsageError("PATCHBAY_\(key.components.joined(separator: "_").uppercased()) must be \(expected)")
        }
    }
}

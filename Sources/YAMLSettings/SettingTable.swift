extension Setting {
    /// Settings under a heading of the documents.
    struct Section: Sendable {
        let title: String
        let settings: [Setting]
    }

    static let sections = [
        Section(title: "Network", settings: network),
        Section(title: "Keys", settings: keys),
        Section(title: "Rooms", settings: rooms),
        Section(title: "Accounts, sessions and calls", settings: accounts),
        Section(title: "Assistants", settings: assistants),
        Section(title: "Cluster", settings: cluster),
        Section(title: "Operations", settings: operations),
    ]

    private static let network = [
        Setting(
            "host", .text, "127.0.0.1", option: "host",
            "The numeric address to listen on. Reachable from outside: 0.0.0.0 or ::"),
        Setting("port", .number(0...65_535), "7880", option: "port", "The port of clients, for HTTP and WebSockets; 0 picks a free one."),
        Setting(
            "shards", .number(1...256), otherwise: "the number of processors", example: "2", option: "shards",
            "The number of threads that serve connections."),
        Setting(
            "shard_ports", .text, otherwise: "off", example: "7881-7888",
            "A port of its own for each shard, too: a range, or the first port."),
        Setting(
            "cert", .path, example: "/etc/patchbay/cert.pem", option: "cert", isReloaded: true,
            "The certificate chain as PEM file. Required."),
        Setting(
            "key", .path, example: "/etc/patchbay/key.pem", option: "key", isReloaded: true,
            "The certificate's private key as PEM file. Required."),
        Setting(
            "public_url", .url, example: "wss://voice.example.org:7880",
            "The URL given to clients. Without a port it means 443. Required with `data` or `database`, except with --dev."),
        Setting(
            "allowed_origins", .own("list of origins"), otherwise: "none", example: "[https://app.example.org]", isFileOnly: true,
            "Origins of web pages that may connect and call the HTTP API; \"*\" for all. Other clients are not affected."),
        Setting(
            "pages", .flag, "true",
            """
            Whether the gateway serves its web pages: a playground at /, users' sessions at /sessions, a dashboard at /dashboard, and the \
            client library for browsers at /web/patchbay.js.
            """),
        Setting("connections_max", .number(1...1_000_000), "60000", "The maximum number of connections."),
        Setting(
            "plain_port", .number(0...65_535), otherwise: "none", example: "7890", provides: "a port for proxies",
            "A port for HTTP and WebSockets without TLS, for a proxy that terminates it (docs/PROXIES.md)."),
        Setting("plain_host", .text, "127.0.0.1", needs: "plain_port", "The address of `plain_port`."),
        Setting(
            "trusted_proxies", .texts, otherwise: "this machine", example: "[\"127.0.0.0/8\", \"::1\"]", needs: "plain_port",
            "The proxies' addresses and networks: only they may use `plain_port`, and their X-Forwarded-For counts."),
        Setting(
            "proxy_protocol", .flag, "false", needs: "plain_port",
            "Whether each connection to `plain_port` begins with a header of the PROXY protocol, version 2."),
        Setting(
            "tls.fast_path", .choice(["auto", "off"]), "auto", option: "tls-fast-path",
            "auto: encrypt TLS records in the gateway where OpenSSL's version is known; off: leave them to OpenSSL."),
    ]

    private static let keys = [
        Setting(
            "keys", .own("map of issuers"),
            example: """
                \nmy-app: a-secret-of-at-least-32-characters
                other: {algorithm: ES256, public_key_file: /etc/patchbay/other.pub.pem}
                """, isReloaded: true, isSecret: true,
            "Keys of token issuers (docs/protocol/connecting.md). At least one is required. PATCHBAY_KEYS adds keys.")
    ]

    private static let rooms = [
        Setting(
            "room.auto_create", .flag, "true",
            "Whether joining creates a room. If false, only tokens with video.roomCreate create rooms by joining."),
        Setting("room.empty_timeout", .number(0...86_400), "300", "Seconds until a room closes that nobody has joined."),
        Setting("room.departure_timeout", .number(0...86_400), "20", "Seconds until a room closes after the last participant left."),
        Setting("room.max_participants", .number(0...100_000), "0", "The maximum number of participants of a room. 0: no limit."),
        Setting("room.silence_limit", .number(1...3_600), "10", "Seconds without audio after which a publisher counts as silent."),
        Setting(
            "resume_seconds", .number(0...60), "20", "Seconds within which a disconnected client can resume. 0 disables resuming."),
        Setting("drain_timeout", .number(0...86_400), "600", "Seconds that SIGTERM waits for rooms to end."),
    ]

    private static let operations = [
        Setting(
            "metrics_port", .number(0...65_535), otherwise: "none", example: "9464", provides: "a port for metrics",
            "A port for /metrics, /readyz and /healthz over plain HTTP."),
        Setting("metrics_host", .text, "127.0.0.1", needs: "metrics_port", "The address of `metrics_port`."),
        Setting(
            "public_metrics", .flag, otherwise: "true without `metrics_port`, otherwise false", example: "true",
            "Whether the ports of clients also serve /metrics and /readyz."),
        Setting("node", .text, otherwise: "the host's name", example: "n1", "The node's name in hello messages, events and metrics."),
        Setting(
            "log_level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), "info", option: "log-level",
            "The lowest level that is logged."),
        Setting(
            "log_format", .choice(["text", "json"]), "text", option: "log-format",
            "The form of the log: text, or one JSON object per line (OPERATIONS.md lists its keys)."),
    ]
}

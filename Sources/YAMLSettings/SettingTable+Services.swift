/// Settings of the services beside rooms: accounts, sessions and calls, assistants, and the cluster.
extension Setting {
    static let accounts = [
        Setting(
            "data", .path, example: "/var/lib/patchbay", option: "data", provides: "accounts and sessions",
            "The directory of the store, encrypted with the master key; enables accounts, sessions and calls. Created if missing."),
        Setting(
            "database", .text, example: "postgresql://patchbay@db.example/patchbay?sslmode=verify-full", option: "database",
            provides: "a store in PostgreSQL", isSecret: true,
            "The connection URI of a PostgreSQL database that holds the store, instead of a file in `data`, which then has recordings only."
        ),
        Setting(
            "database_password_file", .path, example: "/etc/patchbay/database.password", needs: "database",
            "The file with the database's password, if neither `database` nor libpq's password file has it."),
        Setting(
            "master_key_file", .path, example: "/etc/patchbay/master.key", option: "master-key", needs: "data",
            """
            The file with the store's master key: 32 bytes in hexadecimal; created for a new store, so keep a copy elsewhere. \
            PATCHBAY_MASTER_KEY holds the key itself.
            """),
        Setting(
            "calls.waiting", .choice(["busy", "ring"]), "busy", needs: "data",
            "What callers of a user in a call find: busy, or ring: the user's devices ring, and answering holds or ends the other call."),
        Setting("calls.ring_timeout", .number(1...600), "45", needs: "data", "Seconds until an unanswered call between users is missed."),
        Setting("record_sessions", .flag, "false", needs: "data", "Whether sessions of users who opted in are recorded."),
        Setting(
            "accounts.confirm_email", .flag, "false", needs: "webhook.urls",
            """
            true: accounts can do nothing until their e-mail address is confirmed. A webhook delivers the code to a backend, which mails it.
            """),
        Setting(
            "accounts.registrations_per_hour", .number(0...1_000_000), "30", needs: "data",
            "Accounts that an address may create; 0: no limit."),
        Setting(
            "users.issuer", .url, example: "https://login.example.org", needs: "data", provides: "an issuer", isFileOnly: true,
            "Another issuer of users' tokens."),
        Setting(
            "users.algorithm", .choice(["HS256", "RS256", "ES256"]), otherwise: "HS256", example: "RS256", needs: "users.issuer",
            isFileOnly: true, "HS256 with `secret`, or RS256 or ES256 with `public_key_file`."),
        Setting(
            "users.public_key_file", .path, example: "/etc/patchbay/login.pub.pem", needs: "users.issuer", isFileOnly: true,
            "The issuer's public key as PEM file."),
        Setting(
            "users.secret", .own("text"), example: "a-secret-of-at-least-32-characters", needs: "users.issuer", isSecret: true,
            isFileOnly: true, "The issuer's secret, for HS256 and instead of `public_key_file`."),
        Setting(
            "users.audience", .text, otherwise: "not checked", example: "patchbay", needs: "users.issuer", isFileOnly: true,
            "The audience that tokens of the issuer must have."),
        Setting(
            "summaries.url", .url, otherwise: "a built-in, extractive summarizer",
            example: "https://llm.example.org/v1/chat/completions", needs: "data", provides: "a model's URL",
            "A model that writes summaries, with the API of OpenAI's chat completions."),
        Setting("summaries.model", .text, example: "small", needs: "summaries.url", "The model's name. Required with `summaries.url`."),
        Setting("summaries.api_key", .text, example: "a-secret", needs: "summaries.url", isSecret: true, "The key of the model's API."),
        Setting(
            "speech.url", .url, otherwise: "the embedded synthesizer only", example: "https://tts.example.org/v1", needs: "data",
            provides: "a server's URL",
            "A server that speaks clips (docs/protocol/assistants.md), beside the embedded synthesizer, with the API of OpenAI's speech."),
        Setting(
            "speech.provider", .text, "openai", needs: "speech.url", "The name of `speech.url` in requests for clips."),
        Setting("speech.model", .text, example: "tts-small", needs: "speech.url", "The model's name. Required with `speech.url`."),
        Setting(
            "speech.voices", .texts, otherwise: "the product voices", example: "[\"alloy\", \"nova\"]", needs: "speech.url",
            "The server's voices; the first one speaks where a request names none."),
        Setting("speech.api_key", .text, example: "a-secret", needs: "speech.url", isSecret: true, "The key of the server's API."),
        Setting(
            "webhook.urls", .urls, otherwise: "none", example: "[\"https://backend.example.org/hooks\"]", needs: "data",
            provides: "endpoints",
            "Endpoints of webhooks in LiveKit's format about rooms, sessions and calls (docs/protocol/webhooks.md)."),
        Setting(
            "webhook.api_key", .text, otherwise: "the first with a secret", example: "my-app", needs: "webhook.urls",
            "The entry of `keys` that signs webhooks."),
        Setting(
            "webhook.ca", .path, otherwise: "the system's only", example: "/etc/patchbay/backend-ca.pem", needs: "webhook.urls",
            "An additional trusted certificate authority."),
        Setting(
            "push.apns.key_file", .path, example: "/etc/patchbay/AuthKey_ABC123DEFG.p8", needs: "data", provides: "Apple's key",
            """
            The key from Apple's developer account, to wake iPhones for calls with Apple's push service (VoIP). Without it, and for other \
            phones, the webhook push.call_incoming asks a backend to do so.
            """),
        Setting("push.apns.key_id", .text, example: "ABC123DEFG", needs: "push.apns.key_file", "The key's identifier."),
        Setting("push.apns.team_id", .text, example: "DEF123GHIJ", needs: "push.apns.key_file", "The identifier of the developer team."),
        Setting("push.apns.topic", .text, example: "com.example.voice", needs: "push.apns.key_file", "The app's bundle identifier."),
        Setting(
            "push.apns.environment", .choice(["production", "sandbox"]), "production", needs: "push.apns.key_file",
            "Apple's server for the app's build."),
    ]

    static let assistants = [
        Setting(
            "assistants", .own("list of definitions"),
            example: #"""
                \#n- id: default
                  name: Robin
                  instructions: You are Robin, the assistant of a bookshop.
                  greetings: ["Hello {name}, this is Robin."]
                  voice: alloy
                  language: en
                  # api_key_env names a secret of the agent:
                  # patchbay agent start --secret LLM_KEY[=FILE]
                  providers:
                    responder:
                      base_url: "https://llm.example.org/v1"
                      api_key_env: LLM_KEY
                      model: small
                      timeout_ms: 20000
                      retries: 2
                  tools:
                    - name: find_book
                      description: Finds books by title.
                      parameters: {type: object, properties: {title: {type: string}}}
                      url: https://backend.example.org/tools/find-book
                      timeout_ms: 10000
                  quick_commands: ["What is new?"]
                  onboarding: ["Welcome to the shop."]
                  widget: {start_text: Talk to Robin, theme: auto}
                """#, isReloaded: true, isFileOnly: true,
            """
            Assistants (docs/protocol/assistants.md). `default` exists without configuration. Those in the store (PUT /v1/assistants/{id}) \
            replace those here.
            """),
        Setting(
            "dispatch", .own("list of rules"), otherwise: "none", example: "\n- {room: \"support-*\", assistant: default}",
            isReloaded: true, isFileOnly: true, "Assistants for rooms by name, dispatched when the room opens."),
    ]

    static let cluster = [
        Setting(
            "cluster.nats", .texts, otherwise: "none: the gateway runs alone", example: "[\"10.0.0.10:4222\"]", needs: "database",
            provides: "a cluster",
            "The NATS servers of a cluster of gateways, as host:port. They need JetStream (OPERATIONS.md, \"Clusters\")."),
        Setting(
            "cluster.address", .text, example: "10.0.0.1:7899", needs: "cluster.nats",
            "Where other nodes reach this one, with a numeric host. Required with `cluster.nats`."),
        Setting("cluster.host", .text, "0.0.0.0", needs: "cluster.nats", "The address to listen on for other nodes."),
        Setting(
            "cluster.port", .number(1...65_535), otherwise: "that of `cluster.address`", example: "7899", needs: "cluster.nats",
            "The port for other nodes, with TLS."),
        Setting(
            "cluster.trusted_nodes", .texts, example: "[\"10.0.0.0/24\"]", needs: "cluster.nats",
            "The addresses and networks of all nodes: only they may use the port for nodes. Required with `cluster.nats`."),
        Setting(
            "cluster.ca_file", .path, otherwise: "the system's", example: "/etc/patchbay/nodes-ca.pem", needs: "cluster.nats",
            "The authority of the nodes' certificates (`cert`)."),
        Setting(
            "cluster.server_name", .text, otherwise: "the host of `cluster.address`", example: "nodes.voice.example.org",
            needs: "cluster.nats", "The name that the certificates of all nodes contain, for connections between them."),
        Setting(
            "cluster.url", .url, otherwise: "the load balancer's only", example: "wss://n1.voice.example.org", needs: "cluster.nats",
            "Where clients reach this node itself."),
        Setting("cluster.bucket", .text, "patchbay", needs: "cluster.nats", "The key-value bucket with the records of rooms."),
        Setting("cluster.replicas", .number(1...5), "1", needs: "cluster.nats", "NATS servers that hold each record."),
        Setting(
            "cluster.nats_user", .text, example: "patchbay", needs: "cluster.nats", provides: "a user at NATS", "The user at NATS."),
        Setting(
            "cluster.nats_password_file", .path, example: "/etc/patchbay/nats.password", needs: "cluster.nats_user",
            "The file with the user's password."),
        Setting(
            "cluster.nats_token_file", .path, example: "/etc/patchbay/nats.token", needs: "cluster.nats",
            "The file with a token, instead of a user."),
        Setting(
            "cluster.nats_credentials_file", .path, example: "/etc/patchbay/nats.creds", needs: "cluster.nats",
            "The file with a user's JWT and key, instead of a password."),
        Setting(
            "cluster.nats_ca_file", .path, otherwise: "the system's, if NATS demands TLS", example: "/etc/patchbay/nats-ca.pem",
            needs: "cluster.nats", provides: "TLS to NATS", "The authority of the NATS servers' certificates; demands TLS."),
        Setting(
            "cluster.nats_certificate_file", .path, example: "/etc/patchbay/nats-client.pem", needs: "cluster.nats_ca_file",
            provides: "a client certificate",
            "The client certificate for NATS, with `cluster.nats_key_file`."),
        Setting(
            "cluster.nats_key_file", .path, example: "/etc/patchbay/nats-client.key", needs: "cluster.nats_certificate_file",
            "The key of the client certificate."),
    ]
}

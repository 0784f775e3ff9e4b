// swift-tools-version: 6.2

import PackageDescription

/// Settings of all targets. Warnings are errors.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Settings of targets that call C: unsafe expressions are marked with `unsafe`.
let settingsAtC: [SwiftSetting] = settings + [.strictMemorySafety()]

/// Dependencies of the server only. A package that uses `PatchbayClient` with `traits: []` neither fetches nor builds them.
let server = TargetDependencyCondition.when(traits: ["Server"])

/// Dependencies of `PatchbayAgents`; the trait `Server` includes them.
let agents = TargetDependencyCondition.when(traits: ["Agents"])

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser", condition: server)
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration", condition: server)
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server)
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server)
let logging = Target.Dependency.product(name: "Logging", package: "swift-log", condition: agents)
let deques = Target.Dependency.product(name: "DequeModule", package: "swift-collections", condition: server)
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system", condition: agents)
let yams = Target.Dependency.product(name: "Yams", package: "Yams", condition: server)
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift", condition: server)
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: server)
let sqliteFunctions = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift", condition: server)
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess", condition: agents)
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf", condition: server)
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types", condition: server)

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
    .product(
        name: "NIOTransportServices", package: "swift-nio-transport-services",
        condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS], traits: ["TransportServices"])),
]

let package = Package(
    name: "patchbay",
    // Required by `Mutex` and `Atomic`. Only `PatchbayClient` and its dependencies support Apple platforms.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .executable(name: "patchbay", targets: ["patchbay"]),
        .executable(name: "patchbay-loadtest", targets: ["patchbay-loadtest"]),
        .library(name: "PatchbayClient", targets: ["PatchbayClient", "Audio", "Wire"]),
        .library(name: "AssistantWidgetModel", targets: ["AssistantWidgetModel"]),
        .library(name: "PatchbayAgents", targets: ["PatchbayAgents", "PatchbayClient", "Audio", "Wire"]),
    ],
    traits: [
        .default(enabledTraits: ["Server"]),
        .trait(name: "Server", description: "The gateway, its command and its load tests.", enabledTraits: ["Agents"]),
        .trait(name: "Agents", description: "PatchbayAgents: assistants that join rooms."),
        .trait(name: "TransportServices", description: "PatchbayClient uses Network.framework on Apple platforms."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-transport-services", from: "1.28.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        // C libraries: a module map and a shim each, without logic.
        .systemLibrary(
            name: "CLibwebsockets", pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev", "libwebsockets-evlib-uv", "libuv1-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),
        .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "COgg", pkgConfig: "ogg", providers: [.apt(["libogg-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPango", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev", "libcairo2-dev"])]),
        .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CFlite", providers: [.apt(["flite1-dev"])]),

        // The wire format: frame header, control messages, close reasons, identifiers, time types.
        .target(name: "Wire", swiftSettings: settings),
        // TLS 1.3 records after OpenSSL's handshake.
        .target(name: "TLSRecords", dependencies: ["COpenSSL"], exclude: ["README.md"], swiftSettings: settingsAtC),
        // One libuv loop per thread: the edge (listeners, TLS, requests, WebSockets) with libwebsockets behind it, and the mailbox.
        .target(
            name: "Sockets", dependencies: ["Wire", "TLSRecords", "CLibwebsockets", "COpenSSL", "CZlib", httpTypes],
            swiftSettings: settingsAtC),
        // Tokens, keys, passwords, sealed boxes.
        .target(name: "Identity", dependencies: ["Wire", "CJWT", "COpenSSL"], swiftSettings: settingsAtC),
        // Every decision: rooms, forwarding table, queues, playout, calls. Deterministic: no I/O, no clock, no randomness.
        .target(name: "Engine", dependencies: ["Wire", deques], swiftSettings: settings),
        // Requests to other servers, on libcurl: webhooks, pushes, requests to models.
        .target(name: "OutgoingHTTP", dependencies: ["CCurl"], swiftSettings: settingsAtC),
        // Users, sessions, turns, summaries, jobs and webhook rows in SQLite or PostgreSQL.
        .target(
            name: "Store", dependencies: ["Wire", "Identity", "OutgoingHTTP", "CPango", "CPostgres", sqlite, sqliteFunctions],
            swiftSettings: settings),
        // Which nodes run, and which of them is the home of each room; kept in NATS.
        .target(name: "Cluster", dependencies: ["Wire", "CNATS"], exclude: ["README.md"], swiftSettings: settingsAtC),
        // HTTP routing, request schemas, the OpenAPI document, access control of routes.
        .target(name: "HTTPServer", dependencies: ["Wire", "Sockets", "Identity", httpTypes, logging], swiftSettings: settings),
        // Messages of LiveKit's server API, generated by scripts/generate-livekit-protocol.
        .target(
            name: "LiveKitProtocol", dependencies: [protobuf], exclude: ["Definitions"], swiftSettings: [.swiftLanguageMode(.v6)]),
        // HTTP routes and services: accounts, sessions, calls, rooms, recordings, webhooks.
        .target(
            name: "Backend",
            dependencies: [
                "Wire", "HTTPServer", "Sockets", "Identity", "Engine", "Store", "OutgoingHTTP", "Audio", "OggOpus", "LiveKitProtocol",
                protobuf, deques, httpTypes, logging, serviceLifecycle,
            ],
            swiftSettings: settings),
        // The gateway's own web pages: the files of the folder Web, inside the program.
        .target(
            name: "WebPages", dependencies: ["Wire", "Sockets", "Identity", "HTTPServer", httpTypes], swiftSettings: settings,
            plugins: [.plugin(name: "EmbedWebPages")]),
        .plugin(name: "EmbedWebPages", capability: .buildTool()),
        // The YAML of `serve`: values, their schema, issuers and assistants.
        .target(
            name: "YAMLSettings", dependencies: ["Wire", "Identity", "HTTPServer", "Backend", configuration, systemPackage, yams],
            swiftSettings: settings),
        // Drives the engine on sockets: shards, admission, metrics, drain.
        .target(
            name: "Gateway",
            dependencies: [
                "Wire", "TLSRecords", "Sockets", "Identity", "Engine", "Cluster", "OutgoingHTTP", "HTTPServer", "Backend", "WebPages",
                httpTypes,
                logging, serviceLifecycle,
            ],
            swiftSettings: settings),
        // Audio for clients: Opus, WAV files, levels, resampling, jitter buffer. On Apple platforms AudioToolbox codes and resamples.
        .target(
            name: "Audio",
            dependencies: [
                "Wire", .target(name: "COpus", condition: .when(platforms: [.linux])),
                .target(name: "CSpeexDSP", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settingsAtC),
        // Ogg Opus files, for recordings and tools; no part of the client library.
        .target(name: "OggOpus", dependencies: ["Audio", "COgg"], swiftSettings: settingsAtC),
        // The public client library.
        .target(name: "PatchbayClient", dependencies: ["Wire", "Audio"] + nio, swiftSettings: settings),
        // The state machine of an assistant widget, for apps that draw their own.
        .target(name: "AssistantWidgetModel", swiftSettings: settings),
        // The public assistant library: turn-taking, the voice pipeline, providers, the worker.
        .target(
            name: "PatchbayAgents",
            dependencies: ["Wire", "Audio", "OggOpus", "PatchbayClient", "OutgoingHTTP", "CFlite", logging, subprocess, systemPackage]
                + nio,
            swiftSettings: settingsAtC),
        // The decisions of the example app for phone and car, and its part for Apple platforms. `Examples/Copilot` is a package of its own.
        .target(
            name: "CopilotModel", dependencies: ["PatchbayClient", "Wire"], path: "Examples/Copilot/Sources/CopilotModel",
            swiftSettings: settings),
        .target(
            name: "CopilotApp", dependencies: ["CopilotModel", "PatchbayClient", "Audio", "Wire"],
            path: "Examples/Copilot/Sources/CopilotApp", swiftSettings: settings),
        // The command.
        .executableTarget(
            name: "patchbay",
            dependencies: [
                "Wire", "Gateway", "Backend", "HTTPServer", "OutgoingHTTP", "Engine", "Cluster", "Identity", "Store", "Sockets",
                "TLSRecords",
                "YAMLSettings", "PatchbayClient", "PatchbayAgents", "Audio", "OggOpus", argumentParser, configuration, httpTypes, logging,
                serviceLifecycle, unixSignals,
            ] + nio,
            // A link to `certs/make-dev-certs`.
            resources: [.embedInCode("Serve/make-dev-certs")], swiftSettings: settings),
        // The load test: thousands of calls on one thread.
        .executableTarget(
            name: "patchbay-loadtest",
            dependencies: ["Wire", "Sockets", "TLSRecords", "Identity", "Engine", "Audio", "OggOpus", argumentParser, histogram, yams],
            path: "loadtest/Sources", swiftSettings: settings),

        // Calls that outlive the nodes of a cluster; `make test-cluster` ends the nodes.
        .executableTarget(
            name: "patchbay-cluster-load", dependencies: ["Wire", "Sockets", "TLSRecords", "Identity", argumentParser, histogram],
            path: "loadtest/Cluster", swiftSettings: settings),

        // Counts system calls and allocations per frame; the C part replaces functions of the C library.
        .target(name: "CallCounter", path: "loadtest/CallCounter"),
        .executableTarget(
            name: "patchbay-budget",
            dependencies: [
                "CallCounter", "Gateway", "Backend", "Identity", "Sockets", "TLSRecords", "COpenSSL", argumentParser, logging,
            ],
            path: "loadtest/Budget", swiftSettings: settings),

        // Measures interruptions of an assistant.
        .executableTarget(
            name: "patchbay-barge-in", dependencies: ["Wire", "Identity", "PatchbayClient", "Audio", argumentParser],
            path: "loadtest/BargeIn", swiftSettings: settings),

        // Fills a store with a year of conversations.
        .executableTarget(
            name: "patchbay-fill-store", dependencies: ["Identity", "Store", argumentParser], path: "loadtest/FillStore",
            swiftSettings: settings),

        // The simulator: seeded worlds of the real engine with simulated sockets, clocks and peers, and its command.
        .target(
            name: "Simulation", dependencies: ["Engine", "Cluster", "Wire", deques], path: "Tests/Simulation",
            exclude: ["Command", "README.md", "mutate", "mutations"], swiftSettings: settings),
        .executableTarget(name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulation/Command", swiftSettings: settings),

        // The bodies of fuzz targets; `fuzz/run` builds the fuzzer.
        .target(
            name: "FuzzBodies",
            dependencies: [
                "Wire", "Engine", "Cluster", "Identity", "Sockets", "TLSRecords", "HTTPServer", "Gateway", "YAMLSettings", "Audio",
                "OggOpus", "PatchbayAgents", "COpenSSL",
            ],
            path: "fuzz/Bodies", swiftSettings: settings),

        // Starts processes for tests, which end with them.
        .target(name: "TestProcesses", path: "Tests/TestProcesses", swiftSettings: settings),

        // Makes stores for tests, in directories or on a PostgreSQL server of the tests.
        .target(
            name: "TestStore", dependencies: ["Store", "Identity", "TestProcesses", "CPostgres"], path: "Tests/TestStore",
            swiftSettings: settings),

        // Tests, one folder per module, without strict memory safety.
        .testTarget(name: "WireTests", dependencies: ["Wire"], swiftSettings: settings),
        .testTarget(
            name: "SocketsTests", dependencies: ["Sockets", "TLSRecords", "Wire", "CLibwebsockets", "COpenSSL", "CZlib", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "TLSRecordsTests", dependencies: ["TLSRecords", "Sockets", "Wire", "COpenSSL"], swiftSettings: settings),
        .testTarget(name: "IdentityTests", dependencies: ["Identity", "Wire", "CJWT", "COpenSSL"], swiftSettings: settings),
        .testTarget(
            name: "StoreTests",
            dependencies: ["Store", "TestStore", "TestProcesses", "OutgoingHTTP", "Identity", "Wire", "CPostgres", sqlite],
            exclude: ["Fixtures"], swiftSettings: settings),
        .testTarget(name: "ClusterTests", dependencies: ["Cluster", "TestProcesses", "Wire", "CNATS"], swiftSettings: settings),
        .testTarget(name: "AssistantWidgetModelTests", dependencies: ["AssistantWidgetModel"], swiftSettings: settings),
        .testTarget(
            name: "CopilotModelTests", dependencies: ["CopilotModel", "PatchbayClient", "Wire"],
            path: "Examples/Copilot/Tests/CopilotModelTests", swiftSettings: settings),
        .testTarget(name: "EngineTests", dependencies: ["Engine", "Wire"], swiftSettings: settings),
        .testTarget(name: "SimulationTests", dependencies: ["Simulation", "Engine", "Wire"], swiftSettings: settings),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzBodies"], swiftSettings: settings),
        .testTarget(name: "AudioTests", dependencies: ["Audio", "OggOpus", "FuzzBodies", "Wire", "COpus"], swiftSettings: settings),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "Backend", "WebPages", "HTTPServer", "OutgoingHTTP", "Engine", "Cluster", "Identity", "Store", "TestStore",
                "TestProcesses", "Sockets", "TLSRecords", "Audio", "OggOpus", "Wire", "LiveKitProtocol", "CLibwebsockets", "COpenSSL",
                "CZlib", protobuf, httpTypes,
                logging, yams,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PatchbayClientTests",
            dependencies: [
                "PatchbayClient", "PatchbayAgents", "Gateway", "Backend", "HTTPServer", "Identity", "Store", "Engine", "Sockets",
                "TLSRecords", "Audio", "OggOpus",
                "Wire",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PatchbayAgentsTests",
            dependencies: [
                "PatchbayAgents", "PatchbayClient", "Gateway", "Backend", "HTTPServer", "Identity", "Store", "Engine", "Sockets", "Audio",
                "FuzzBodies", "Wire",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LoadTestTests", dependencies: ["patchbay-loadtest", "Engine", "Wire", argumentParser], swiftSettings: settings),
        .testTarget(name: "YAMLSettingsTests", dependencies: ["YAMLSettings", "Identity", "Wire"], swiftSettings: settings),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "patchbay", "YAMLSettings", "PatchbayClient", "Audio", "OggOpus", "Gateway", "Identity", "Sockets", "Store", "Wire",
                argumentParser,
                logging, sqlite, yams,
            ],
            swiftSettings: settings),
    ]
)

// The fuzzer links only with libFuzzer's `main`, so only `fuzz/run` enables it.
if Context.environment["PATCHBAY_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "patchbay-fuzz", dependencies: ["FuzzBodies"], path: "fuzz/Driver", swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]))
}

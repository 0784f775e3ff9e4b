import ArgumentParser
import Backend
import Foundation
import Gateway
import Identity
import Logging
import Sockets
import TLSRecords

/// The program `patchbay-budget`: checks costs that do not depend on the machine's speed or load.
@main
struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-budget",
        abstract: "Counts system calls and allocations per forwarded frame, and bytes per connection.",
        discussion: """
            Runs a gateway with one shard in this process and `patchbay-loadtest` beside it. loadtest/BUDGET.md explains the \
            numbers.

            EXIT CODES
              0 within the budget, 1 over it, 2 usage error
            """)

    @Option(help: "The certificate chain as PEM file.")
    var cert = "certs/dev/server.cert.pem"
    @Option(help: "The private key as PEM file.")
    var key = "certs/dev/server.key.pem"
    @Option(help: "The load test executable (default: next to this one).")
    var loadtest: String?
    @Flag(help: "Print the results as JSON.")
    var json = false

    func run() async throws {
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        let gateway = try Gateway(
            settings: GatewaySettings(port: 0, tls: TLSFiles(certificatePath: cert, privateKeyPath: key), fastPath: TLSFastPath(.auto)),
            keys: keys, operatorLog: OperatorLog { Logger(label: $0) { _ in DiscardingLogHandler() } })
        let serving = Task { try await gateway.run() }
        let neighbour = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "patchbay-loadtest").path
        let bench = Bench(gateway: gateway, loadtest: loadtest ?? neighbour)
        let report = try await BudgetReport(frame: bench.measureFrameCost(), connectionBytes: bench.measureConnectionBytes())
        gateway.drain()
        gateway.drain()
        try await serving.value
        print(json ? try report.json : report.text)
        if !report.isWithinBudget { throw ExitCode(1) }
    }
}

/// Takes all lines at level `info`, so that what logging costs is counted, and writes none.
private struct DiscardingLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}

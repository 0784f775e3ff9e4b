import ArgumentParser
import Foundation
import Gateway
import Identity
import Sockets
import TLSFastPath

/// What a frame and a connection may cost, in numbers that do not depend on how fast or how busy the machine is.
@main
struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-budget",
        abstract: "Counts system calls and allocations per forwarded frame, and bytes per connection.",
        discussion: """
            Runs a gateway with one shard in this process and `patchbay-loadtest` beside it. What the numbers mean, and where each \
            remaining cost comes from, is in loadtest/BUDGET.md.

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
            settings: GatewaySettings(port: 0, tls: TLSFiles(certificatePath: cert, privateKeyPath: key), recordLayer: TLSFastPath(.auto)),
            keys: keys)
        let serving = Task { try await gateway.run() }
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "patchbay-loadtest").path
        let bench = Bench(gateway: gateway, loadtest: loadtest ?? beside)
        let findings = try await Findings(frame: bench.costOfAFrame(), connectionBytes: bench.bytesOfAConnection())
        gateway.drain()
        gateway.drain()
        try await serving.value
        print(json ? try findings.json : findings.text)
        if !findings.isWithinBudget { throw ExitCode(1) }
    }
}

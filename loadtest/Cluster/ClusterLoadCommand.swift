import ArgumentParser
import Foundation
import Identity
import Sockets

/// The program `patchbay-cluster-load`: calls that outlive the nodes of a cluster, and figures about how well.
struct ClusterLoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-cluster-load",
        abstract: "Keeps calls on a cluster of gateways going, and reports what they lose.",
        discussion: """
            Each call is a user and an agent in a room of their own; both publish a live track and receive the other's. Connections go to the \
            nodes in turn. A lost one resumes at the next node.

            Lines on standard input:
              mark NAME [NODE…]   what follows is reported under NAME; calls at home on a NODE, or connected through one, are told apart
              end                 report and exit; so does the end of the input

            Standard error has lines of progress, standard output the report as one JSON object.

            EXIT CODES
              0 the report was written
              2 usage error
            """)

    @Option(
        name: .customLong("url"), parsing: .singleValue,
        help: ArgumentHelp("A node's name and URL; repeat for each node.", valueName: "node=wss://host:port"))
    var urls: [String]
    @Option(help: "Calls, of two connections each.")
    var calls = 300
    @Option(name: .customLong("joins-per-second"), help: "Connections started per second at the beginning.")
    var joinsPerSecond = 100
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Option(name: .customLong("api-key"), help: "The issuer that signs tokens.")
    var apiKey = "devkey"
    @Option(name: .customLong("api-secret"), help: "Its secret.")
    var apiSecret = "secret"
    @Option(help: "Seconds between two lines of progress.")
    var progress = 1.0
    @Option(help: "End after this time, and ignore the end of the input.")
    var seconds: Double?

    func run() throws {
        guard calls > 0, joinsPerSecond > 0 else { throw ValidationError("--calls and --joins-per-second must be positive") }
        guard !urls.isEmpty else { throw ValidationError("name at least one node with --url") }
        raiseFileLimit()
        let nodes = try urls.map(Node.init(option:))
        let ring = try KeyRing([IssuerSettings(issuer: apiKey, algorithm: .hs256, key: SecretText(apiSecret))])
        guard let signer = ring.signer else { throw ValidationError("the key \(apiKey) cannot sign tokens") }
        let trust = ca.map { ClientTrust.authority(path: $0) } ?? .system
        let load = ClusterLoad(
            calls: calls, nodes: nodes, signer: signer, joinsPerSecond: joinsPerSecond, progress: progress, seconds: seconds)
        let report = try load.run(trusting: trust, commands: Commands(endsWithInput: seconds == nil))
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        FileHandle.standardOutput.write(try encoder.encode(report) + Data("\n".utf8))
    }

    /// The default of 1,024 open files is too low for many connections.
    private func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(calls * 4 + 1_000)))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// A gateway to which clients connect.
struct Node {
    /// As `hello` has it in `server.node`.
    let name: String
    let host: String
    let port: Int
    let usesTLS: Bool

    /// - Parameter option: `name=wss://host:port`, or `ws://` for the plain port.
    init(option: String) throws {
        let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let url = URLComponents(string: parts[1]), let host = url.host, let port = url.port,
            url.scheme == "wss" || url.scheme == "ws"
        else { throw ValidationError("--url \(option): write it as NAME=wss://HOST:PORT") }
        name = parts[0]
        self.host = host
        self.port = port
        usesTLS = url.scheme == "wss"
    }
}

@main
enum Main {
    static func main() {
        ClusterLoadCommand.main()
    }
}

import ArgumentParser
import Foundation
import PatchbayClient

/// The gateway's URL and trusted authority, shared by all commands that use a running gateway.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL.")
    var url = "wss://127.0.0.1:7880"
    @Flag(help: "For development: trust the development certificate, and sign with devkey.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Flag(help: "Trust any certificate. For experiments only.")
    var insecure = false

    /// - Throws: `UsageError` if the authority's file cannot be read.
    func trust() throws -> TLSTrust {
        if insecure { return .anybody }
        if let ca {
            guard FileManager.default.isReadableFile(atPath: ca) else {
                throw UsageError("--ca \(ca): the file does not exist or cannot be read; check the path and its permissions")
            }
            return .authority(path: ca)
        }
        return dev ? .authority(path: try DevelopmentCertificate.prepare().authorityPath) : .system
    }
}

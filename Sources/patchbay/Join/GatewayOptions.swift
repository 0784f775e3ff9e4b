import ArgumentParser
import Foundation
import PatchbayClient

/// The gateway's URL and trusted authority, shared by all commands that use a running gateway.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL.")
    var url = "wss://127.0.0.1:7880"
    @Flag(help: "For development: trust the certificate authority of `make certs` and sign with devkey.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Flag(help: "Trust any certificate. For experiments only.")
    var insecure = false

    /// - Throws: `UsageError` if the certificate file does not exist.
    func trust() throws -> TLSTrust {
        if insecure { return .anybody }
        guard let path = ca ?? (dev ? DevelopmentCertificate.authorityPath : nil) else { return .system }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw UsageError(
                ca == nil
                    ? "\(path) does not exist; run `make certs`, start from the package directory, or pass --ca"
                    : "--ca \(path): the file cannot be read")
        }
        return .authority(path: path)
    }
}

import ArgumentParser
import Foundation
import Identity
import Sockets

/// Where the gateway is, whose word we take for it, and who signs: named as in `patchbay join`.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL.")
    var url = "wss://127.0.0.1:7880"
    @Flag(help: "For development: trust the certificate authority of `make certs` and sign with devkey.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Flag(help: "Trust any certificate. For experiments only.")
    var insecure = false
    @Option(name: .customLong("api-key"), help: "The issuer (environment: PATCHBAY_API_KEY; default devkey).")
    var apiKey: String?
    @Option(name: .customLong("api-secret"), help: "Its secret (environment: PATCHBAY_API_SECRET; for devkey: secret).")
    var apiSecret: String?

    private static let developmentAuthority = "certs/dev/ca.cert.pem"

    func gate() throws(UsageError) -> Gate {
        try Gate(url: url, trust: trust(), signer: signer())
    }

    private func trust() throws(UsageError) -> ClientTrust {
        if insecure { return .anybody }
        guard let path = ca ?? (dev ? Self.developmentAuthority : nil) else { return .system }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw UsageError(
                ca == nil
                    ? "\(path) is not there; run `make certs`, start from the directory that has certs/, or name the authority with --ca"
                    : "--ca \(path): the file cannot be read")
        }
        return .authority(path: path)
    }

    private func signer() throws(UsageError) -> IssuerKey {
        let environment = ProcessInfo.processInfo.environment
        let issuer = apiKey ?? environment["PATCHBAY_API_KEY"] ?? "devkey"
        guard let secret = apiSecret ?? environment["PATCHBAY_API_SECRET"] ?? (issuer == "devkey" ? "secret" : nil) else {
            throw UsageError("no secret for the key \(issuer); pass --api-secret or set PATCHBAY_API_SECRET")
        }
        do {
            let ring = try KeyRing([IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText(secret))])
            guard let signer = ring.signer else { throw UsageError("the key \(issuer) cannot sign tokens; use one with a secret") }
            return signer
        } catch {
            throw UsageError("\(error)")
        }
    }
}

import Foundation
import Identity
import PatchbayClient

/// The gateway that a command uses, the certificates it trusts, and the key it signs with.
///
/// Each value comes from the first of these that has it: the flag, the environment variable, the profile, the default.
///
/// | value | flag | variable | profile | default |
/// |---|---|---|---|---|
/// | URL | `--url` | | `url` | `wss://127.0.0.1:7880` |
/// | key | `--api-key` | `PATCHBAY_API_KEY` | `api_key` | `devkey` |
/// | secret | `--api-secret` | `PATCHBAY_API_SECRET` | `api_secret_env`, `api_secret_file`, for the profile's key | `secret`, for `devkey` |
/// | authority | `--insecure`, `--ca`, `--dev` | | `ca` | the system's |
///
/// The key and the authority of a profile are used only for the gateway of the profile. With `--dev` there is no profile.
struct GatewayAccess {
    static let defaultURL = "wss://127.0.0.1:7880"

    /// The options of a command line.
    struct Flags {
        var url: String?
        var apiKey: String?
        var apiSecret: String?
        var profile: String?
        var dev = false
        var ca: String?
        var insecure = false
    }

    let url: String
    private let flags: Flags
    private let environment: [String: String]
    private let choice: ProfileFile.Choice?
    /// The profile, if the gateway is its own.
    private let profile: Profile?

    /// - Throws: `UsageError` if the profile cannot be used, `ConnectError` for an invalid URL.
    init(_ flags: Flags, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        if flags.dev, let name = flags.profile {
            throw UsageError("--profile \(name): development gateways need no profile; omit --profile, or --dev")
        }
        let choice = flags.dev ? nil : try ProfileFile(environment: environment).choice(flags.profile, environment)
        let isOfProfile = try choice.map { choice in try flags.url.map(choice.profile.isAt) ?? true } ?? false
        url = flags.url ?? choice?.profile.url ?? Self.defaultURL
        profile = isOfProfile ? choice?.profile : nil
        (self.flags, self.environment, self.choice) = (flags, environment, choice)
    }

    /// - Throws: `UsageError` if the authority's file cannot be read.
    func trust() throws -> TLSTrust {
        if flags.insecure { return .anybody }
        if let ca = flags.ca { return try TrustOptions.authority(ca, namedBy: "--ca \(ca)") }
        if flags.dev { return .authority(path: try DevelopmentCertificate.prepare().authorityPath) }
        if let choice, let ca = profile?.ca { return try TrustOptions.authority(ca, namedBy: "profile \(choice.name): ca \(ca)") }
        return .system
    }

    /// Reports on standard error if the environment replaces the profile's key, because the profile may have been chosen for it.
    ///
    /// - Throws: `UsageError`, with the remedy.
    func signer() throws -> IssuerKey {
        if let remark = overridden { Console.complain(remark) }
        let (issuer, secret) = try key()
        return try APIKeyOptions.signer(issuer: issuer, secret: secret)
    }

    /// The variables that replace the profile's key, as a sentence; nil if none does.
    var overridden: String? {
        guard let choice, let profile, flags.apiKey == nil else { return nil }
        let isOtherKey = environment["PATCHBAY_API_KEY"].map { $0 != profile.apiKey } ?? false
        let isOtherSecret =
            flags.apiSecret == nil && environment["PATCHBAY_API_SECRET"] != nil && profile.secret != .variable("PATCHBAY_API_SECRET")
        let names = (isOtherKey ? ["PATCHBAY_API_KEY"] : []) + (isOtherSecret ? ["PATCHBAY_API_SECRET"] : [])
        guard !names.isEmpty else { return nil }
        return "using \(names.joined(separator: " and ")) instead of the key of the profile \(choice.name)"
    }

    /// - Throws: `UsageError`, with the remedy.
    func key() throws -> (issuer: String, secret: String) {
        let given = flags.apiKey ?? environment["PATCHBAY_API_KEY"]
        if given == nil, profile == nil, let choice {
            throw UsageError(
                "the key of the profile \(choice.name) is for \(choice.profile.url) and is not used for --url \(url); "
                    + "pass --api-key, --profile with a profile of this gateway, or --dev")
        }
        let issuer = given ?? profile?.apiKey ?? "devkey"
        if let secret = flags.apiSecret ?? environment["PATCHBAY_API_SECRET"] { return (issuer, secret) }
        if let choice, let profile, issuer == profile.apiKey {
            let label = "profile \(choice.name): the secret's \(profile.secret)"
            let secret = try profile.secret.read(
                for: label, or: "name another one with `patchbay profile add \(choice.name) --replace`", environment)
            return (issuer, secret)
        }
        guard issuer == "devkey" else { throw UsageError("no secret for the key \(issuer); pass --api-secret or set PATCHBAY_API_SECRET") }
        return (issuer, "secret")
    }
}

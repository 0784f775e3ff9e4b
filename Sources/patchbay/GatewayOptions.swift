import ArgumentParser
import Foundation
import Identity
import PatchbayClient
import Wire

/// The gateway's URL and trusted authority, shared by all commands that use a running gateway.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL (default: of the profile, else \(GatewayAccess.defaultURL)).")
    var url: String?
    @OptionGroup private var trustOptions: TrustOptions

    /// Whether the development certificate is trusted.
    var dev: Bool {
        get { trustOptions.dev }
        set { trustOptions.dev = newValue }
    }

    /// - Throws: `UsageError` if the profile cannot be used, `ConnectError` for an invalid URL.
    func access(
        with key: APIKeyOptions, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> GatewayAccess {
        try trustOptions.access(to: url, with: key, environment: environment)
    }
}

/// Which certificates of a gateway are trusted.
struct TrustOptions: ParsableArguments {
    @Flag(help: "For development: trust the development certificate, sign with devkey, and use no profile.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority (default: of the profile).")
    var ca: String?
    @Flag(help: "Trust any certificate. For experiments only.")
    var insecure = false

    /// - Throws: `UsageError` if the profile cannot be used, `ConnectError` for an invalid URL.
    func access(
        to url: String?, with key: APIKeyOptions, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> GatewayAccess {
        var flags = key.flags
        (flags.url, flags.dev, flags.ca, flags.insecure) = (url, dev, ca, insecure)
        return try GatewayAccess(flags, environment: environment)
    }

    /// - Parameter label: what names the file; errors begin with it.
    /// - Throws: `UsageError` if the file cannot be read.
    static func authority(_ path: String, namedBy label: String) throws -> TLSTrust {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw UsageError("\(label): the file does not exist or cannot be read; check the path and its permissions")
        }
        return .authority(path: path)
    }
}

/// The signing key: from flags, the environment, a profile, or the development key.
struct APIKeyOptions: ParsableArguments {
    @Option(name: .customLong("api-key"), help: "The issuer (environment: PATCHBAY_API_KEY; default: of the profile, else devkey).")
    var apiKey: String?
    @Option(
        name: .customLong("api-secret"),
        help: "Its secret (environment: PATCHBAY_API_SECRET; default: of the profile; for devkey: secret).")
    var apiSecret: String?
    @Option(help: "The profile of the gateway (environment: PATCHBAY_PROFILE; default: of `patchbay profile use`).", completion: .profiles)
    var profile: String?

    /// The flags of a command that signs a token and needs no gateway.
    var flags: GatewayAccess.Flags { GatewayAccess.Flags(apiKey: apiKey, apiSecret: apiSecret, profile: profile) }

    /// - Throws: `UsageError` if the key cannot sign.
    static func signer(issuer: String, secret: String) throws -> IssuerKey {
        do {
            let ring = try KeyRing([IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText(secret))])
            guard let signer = ring.signer else { throw UsageError("the key \(issuer) cannot sign tokens; use one with a secret") }
            return signer
        } catch let error as KeyError {
            throw UsageError("\(error)")
        }
    }
}

extension IssuerKey {
    /// Signs a token that is valid from now on, with 5 s for clocks that differ.
    func token(
        _ identity: String, seconds: Int64, name: String = "", kind: ParticipantKind = .standard, video: VideoGrant,
        roomSettings: TokenRoomSettings? = nil
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims = AccessToken(
            identity: identity, notBefore: now - 5, expires: now + seconds, name: name, kind: kind, video: video,
            roomSettings: roomSettings)
        do {
            return try TokenMinter.mint(claims, with: self)
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Signs tokens of an assistant's workers, an hour each.
    func tokens(ofAssistant assistant: String) -> UserTokenSource {
        var grant = VideoGrant()
        grant.agent = true
        return { [grant] in try token(CallParty.assistantPrefix + assistant, seconds: 3_600, kind: .agent, video: grant) }
    }
}

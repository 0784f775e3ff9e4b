import ArgumentParser
import Foundation
import Identity
import PatchbayClient
import Wire

/// The gateway's URL and trusted authority, shared by all commands that use a running gateway.
struct GatewayOptions: ParsableArguments {
    @Option(help: "The gateway's URL.")
    var url = "wss://127.0.0.1:7880"
    @OptionGroup private var trustOptions: TrustOptions

    /// Whether the development certificate is trusted.
    var dev: Bool {
        get { trustOptions.dev }
        set { trustOptions.dev = newValue }
    }

    /// - Throws: `UsageError` if the authority's file cannot be read.
    func trust() throws -> TLSTrust { try trustOptions.trust() }
}

/// Which certificates of a gateway are trusted.
struct TrustOptions: ParsableArguments {
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

/// The signing key: from flags, the environment, or the development key.
struct APIKeyOptions: ParsableArguments {
    @Option(name: .customLong("api-key"), help: "The issuer (environment: PATCHBAY_API_KEY; default devkey).")
    var apiKey: String?
    @Option(name: .customLong("api-secret"), help: "Its secret (environment: PATCHBAY_API_SECRET; for devkey: secret).")
    var apiSecret: String?

    func signer() throws -> IssuerKey {
        let environment = ProcessInfo.processInfo.environment
        let issuer = apiKey ?? environment["PATCHBAY_API_KEY"] ?? "devkey"
        guard let secret = apiSecret ?? environment["PATCHBAY_API_SECRET"] ?? (issuer == "devkey" ? "secret" : nil) else {
            throw UsageError("no secret for the key \(issuer); pass --api-secret or set PATCHBAY_API_SECRET")
        }
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

/// Options shared by the administration commands: the gateway's URL and a key to sign with.
struct AdministratorOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var key: APIKeyOptions
    @Flag(help: "Print JSON.")
    var json = false

    /// An administrator whose token is valid for one minute and one grant.
    func administrator(_ grant: (inout VideoGrant) -> Void) throws -> GatewayAdministrator {
        var video = VideoGrant()
        grant(&video)
        let token = try key.signer().token("", seconds: 60, video: video)
        return try GatewayAdministrator(url: gateway.url, token: token, trust: gateway.trust())
    }

    /// An administrator of one room.
    func administrator(of room: String) throws -> GatewayAdministrator {
        try administrator { grant in
            grant.roomAdmin = true
            grant.room = room
        }
    }

    /// Reports success: a sentence, or an empty object with `--json`.
    func printDone(_ sentence: String) {
        Console.say(json ? "{}" : sentence)
    }
}

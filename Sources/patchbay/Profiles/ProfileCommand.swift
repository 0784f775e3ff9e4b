import ArgumentParser
import Foundation
import PatchbayClient

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Name gateways and their keys, for commands that use a running gateway.",
        discussion: """
            A profile has the URL of a gateway, the name of an API key, and optionally a certificate authority. The key's secret stays \
            in an environment variable or a file. Commands use the profile of --profile, else of PATCHBAY_PROFILE, else the default \
            one. Options, PATCHBAY_API_KEY and PATCHBAY_API_SECRET replace its values; with another --url, its key is not used. With \
            --dev there is no profile.

            The profiles are in $XDG_CONFIG_HOME/patchbay/profiles.json (default: ~/.config/patchbay/profiles.json).

            EXAMPLES
              patchbay profile add shop --url wss://voice.example \\
                  --api-key my-app --api-secret-file ~/.shop-secret
              patchbay room list
              patchbay profile add staging --url wss://staging.example \\
                  --api-key my-app --api-secret-env STAGING_SECRET
              patchbay room list --profile staging
              patchbay profile use staging
            """,
        subcommands: [ProfileAddCommand.self, ProfileUseCommand.self, ProfileListCommand.self, ProfileRemoveCommand.self])
}

struct ProfileAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a profile. The first one is the default.",
        discussion: """
            Checks the URL, and that the secret and the authority can be read; does not connect.

            EXAMPLES
              patchbay profile add shop --url wss://voice.example \\
                  --api-key my-app --api-secret-file ~/.shop-secret
              patchbay profile add staging --url wss://staging.example \\
                  --api-key my-app --api-secret-env STAGING_SECRET --ca ca.pem
              patchbay profile add staging --url wss://staging.example:7881 \\
                  --api-key my-app --api-secret-env STAGING_SECRET --replace
            """)

    @Argument(help: "The profile's name: letters, digits, `.`, `_` and `-`.")
    var name: String
    @Option(help: "The gateway's URL.")
    var url: String
    @Option(name: .customLong("api-key"), help: "The issuer.")
    var apiKey: String
    @Option(
        name: .customLong("api-secret-env"), help: ArgumentHelp("The environment variable with the key's secret.", valueName: "variable"))
    var secretVariable: String?
    @Option(name: .customLong("api-secret-file"), help: ArgumentHelp("The file with the key's secret.", valueName: "file"))
    var secretFile: String?
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Flag(help: "Replace the profile of this name.")
    var replace = false

    func validate() throws {
        guard name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]{0,63}/) != nil else {
            throw ValidationError("name: use 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit")
        }
        guard (secretVariable == nil) != (secretFile == nil) else {
            throw ValidationError("pass either --api-secret-env or --api-secret-file: a profile names the secret, and does not contain it")
        }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        var file = try ProfileFile(environment: environment)
        if file.profiles[name] != nil, !replace {
            throw UsageError("there is a profile \(name); pass --replace, or choose another name")
        }
        file.profiles[name] = try checked(environment)
        if file.profiles.count == 1 { file.standard = name }
        try file.write()
        let remark = file.standard == name ? "it is the default" : "`patchbay profile use \(name)` makes it the default"
        Console.say("added the profile \(name); \(remark)")
    }

    /// The profile, with absolute paths.
    private func checked(_ environment: [String: String]) throws -> Profile {
        do throws(ConnectError) { _ = try GatewayAddress(url) } catch { throw UsageError("--url: \(error.description)") }
        let secret = secretVariable.map(SecretReference.variable) ?? .file(Self.absolute(secretFile ?? ""))
        // A secret passed by mistake is no variable's name, and is not repeated.
        let label = secretVariable == nil ? "--api-secret-file" : "--api-secret-env"
        let text = try secret.read(for: label, or: "pass --api-secret-file; this option takes a name, not the secret", environment)
        _ = try APIKeyOptions.signer(issuer: apiKey, secret: text)
        let ca = ca.map(Self.absolute)
        if let ca { _ = try TrustOptions.authority(ca, namedBy: "--ca \(ca)") }
        return Profile(url: url, apiKey: apiKey, secret: secret, ca: ca)
    }

    private static func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }
}

struct ProfileUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Make a profile the default.",
        discussion: """
            EXAMPLES
              patchbay profile use staging
            """)

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    func run() async throws {
        var file = try ProfileFile(environment: ProcessInfo.processInfo.environment)
        file.standard = try file.profile(name, namedBy: name).name
        try file.write()
        Console.say("the default profile is \(name)")
    }
}

struct ProfileListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the profiles. Secrets are not read.",
        discussion: """
            EXAMPLES
              patchbay profile list
              patchbay profile list --json
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let file = try ProfileFile(environment: ProcessInfo.processInfo.environment)
        let profiles = file.profiles.sorted { $0.key < $1.key }
        if json { return try Console.say(json: profiles.map { View($0, $1, isDefault: $0 == file.standard) }) }
        let rows = profiles.map { name, profile in
            [name, profile.url, profile.apiKey, "\(profile.secret)", profile.ca ?? "-", name == file.standard ? "yes" : "-"]
        }
        Table.say(["NAME", "URL", "API KEY", "SECRET", "CA", "DEFAULT"], rows, none: "no profiles; `patchbay profile add` adds one")
    }

    /// One profile, with the names of the file's fields.
    private struct View: Encodable {
        let name: String
        let url: String
        let apiKey: String
        let apiSecretEnv: String?
        let apiSecretFile: String?
        let ca: String?
        let isDefault: Bool

        enum CodingKeys: String, CodingKey {
            case name, url, apiKey, apiSecretEnv, apiSecretFile, ca
            case isDefault = "default"
        }

        init(_ name: String, _ profile: Profile, isDefault: Bool) {
            (self.name, url, apiKey, ca, self.isDefault) = (name, profile.url, profile.apiKey, profile.ca, isDefault)
            apiSecretEnv = if case .variable(let name) = profile.secret { name } else { nil }
            apiSecretFile = if case .file(let path) = profile.secret { path } else { nil }
        }
    }
}

struct ProfileRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a profile. Its secret stays where it is.",
        discussion: """
            EXAMPLES
              patchbay profile remove staging
            """)

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    func run() async throws {
        var file = try ProfileFile(environment: ProcessInfo.processInfo.environment)
        file.profiles[try file.profile(name, namedBy: name).name] = nil
        let wasDefault = file.standard == name
        if wasDefault { file.standard = nil }
        try file.write()
        Console.say("removed the profile \(name)\(wasDefault ? "; there is no default profile now" : "")")
    }
}

extension CompletionKind {
    /// The names of the user's profiles.
    static var profiles: CompletionKind {
        .custom { _, _, _ in
            ((try? ProfileFile(environment: ProcessInfo.processInfo.environment))?.profiles.keys).map { $0.sorted() } ?? []
        }
    }
}

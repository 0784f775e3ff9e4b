import ArgumentParser
import Foundation
import PatchbayClient
import Testing

@testable import patchbay

/// Which gateway, key and authority a command uses. The default profile is `shop`; its gateway is wss://shop.example.
struct GatewayAccessTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = ["XDG_CONFIG_HOME": folder.url.path, "SHOP_SECRET": "shop-secret"]
        for name in ["ca.pem", "other.pem"] { try Data().write(to: folder.file(name)) }
        try Data("staging-secret\n".utf8).write(to: folder.file("secret"))
        var file = try ProfileFile(environment: environment)
        file.profiles["shop"] = Profile(
            url: "wss://shop.example", apiKey: "shop-key", secret: .variable("SHOP_SECRET"), ca: folder.file("ca.pem").path)
        file.profiles["staging"] = Profile(
            url: "wss://staging.example:7881", apiKey: "staging-key", secret: .file(folder.file("secret").path))
        file.standard = "shop"
        try file.write()
    }

    private func access(_ arguments: [String], _ variables: [String: String] = [:]) throws -> GatewayAccess {
        let options = try AdministratorOptions.parse(arguments)
        return try options.gateway.access(with: options.key, environment: environment.merging(variables) { $1 })
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var flags: String
        var variables: [String: String] = [:]
        var url = "wss://shop.example"
        var key: String

        var testDescription: String { "\(flags) \(variables)" }
    }

    static let bothVariables = ["PATCHBAY_API_KEY": "env-key", "PATCHBAY_API_SECRET": "env-secret"]

    @Test(arguments: [
        Row(flags: "", key: "shop-key shop-secret"),
        Row(flags: "", variables: ["PATCHBAY_PROFILE": ""], key: "shop-key shop-secret"),
        Row(flags: "", variables: ["PATCHBAY_PROFILE": "staging"], url: "wss://staging.example:7881", key: "staging-key staging-secret"),
        Row(flags: "--profile shop", variables: ["PATCHBAY_PROFILE": "staging"], key: "shop-key shop-secret"),
        Row(flags: "", variables: bothVariables, key: "env-key env-secret"),
        Row(flags: "--profile shop", variables: bothVariables, key: "env-key env-secret"),
        Row(flags: "", variables: ["PATCHBAY_API_SECRET": "env-secret"], key: "shop-key env-secret"),
        Row(flags: "", variables: ["PATCHBAY_API_KEY": "shop-key"], key: "shop-key shop-secret"),
        Row(flags: "--api-key a --api-secret b", variables: bothVariables, key: "a b"),
        Row(flags: "--api-secret b", key: "shop-key b"),
        Row(flags: "--api-key devkey", key: "devkey secret"),
        Row(flags: "--url https://SHOP.example:443/", url: "https://SHOP.example:443/", key: "shop-key shop-secret"),
        Row(flags: "--url wss://other --api-key a --api-secret b", url: "wss://other", key: "a b"),
        Row(flags: "--url wss://other", variables: bothVariables, url: "wss://other", key: "env-key env-secret"),
        Row(flags: "--dev", url: "wss://127.0.0.1:7880", key: "devkey secret"),
        Row(flags: "--dev --url wss://other", variables: ["PATCHBAY_PROFILE": "nobody"], url: "wss://other", key: "devkey secret"),
    ])
    func flagsComeBeforeVariablesAndTheseBeforeTheProfile(row: Row) throws {
        let access = try access(row.flags.split(separator: " ").map(String.init), row.variables)
        let (issuer, secret) = try access.key()
        #expect(access.url == row.url)
        #expect("\(issuer) \(secret)" == row.key)
    }

    @Test(arguments: [
        (
            "--url wss://other.example", [:],
            "the key of the profile shop is for wss://shop.example and is not used for --url wss://other.example; pass --api-key"
        ),
        ("--url wss://shop.example:7881", [:], "is not used for --url wss://shop.example:7881"),
        ("--url wss://shop.example/tenant", [:], "is not used for --url wss://shop.example/tenant"),
        ("--profile staging --url wss://shop.example", [:], "the key of the profile staging is for wss://staging.example:7881"),
        ("--url wss://other", ["PATCHBAY_API_SECRET": "env-secret"], "is not used for --url wss://other"),
        ("--url wss://other --api-key shop-key", [:], "no secret for the key shop-key; pass --api-secret"),
        ("--api-key other-key", [:], "no secret for the key other-key; pass --api-secret"),
    ])
    func aProfileNeverSignsForAnotherGateway(flags: String, variables: [String: String], says: String) throws {
        let access = try access(flags.split(separator: " ").map(String.init), variables)
        let error = try #require(throws: UsageError.self) { try access.signer() }
        #expect(error.description.contains(says), "\(error)")
        #expect(!error.description.contains("shop-secret"))
    }

    @Test(arguments: [
        (["--profile", "nobody"], [:], "--profile nobody: there is no such profile; use one of shop, staging, or add it"),
        (["--profile", "shp"], [:], "--profile shp: there is no such profile; did you mean shop?"),
        ([], ["PATCHBAY_PROFILE": "nobody"], "PATCHBAY_PROFILE=nobody: there is no such profile"),
        (["--dev", "--profile", "shop"], [:], "development gateways need no profile; omit --profile, or --dev"),
        (["--profile", "a"], ["XDG_CONFIG_HOME": "/nonexistent"], "there is no such profile; `patchbay profile add` adds one"),
    ])
    func aProfileThatCannotBeUsedIsAnErrorWithTheRemedy(arguments: [String], variables: [String: String], says: String) throws {
        let error = try #require(throws: UsageError.self) { try access(arguments, variables) }
        #expect(error.description.contains(says), "\(error)")
    }

    @Test func aSecretThatIsGoneIsAnErrorWithTheRemedy() throws {
        let variable = try #require(throws: UsageError.self) { try access([], ["SHOP_SECRET": ""]).key() }
        #expect(
            variable.description == "profile shop: the secret's variable SHOP_SECRET: the environment variable is not set; set it, "
                + "or name another one with `patchbay profile add shop --replace`")
        try FileManager.default.removeItem(at: folder.file("secret"))
        let file = try #require(throws: UsageError.self) { try access(["--profile", "staging"]).key() }
        #expect(file.description.contains("the file cannot be read; check the path and its permissions"), "\(file)")
    }

    @Test func theAuthorityOfAProfileIsTrustedForItsGatewayOnly() throws {
        #expect(try access([]).trust() == .authority(path: folder.file("ca.pem").path))
        #expect(try access(["--url", "wss://other"]).trust() == .system)
        #expect(try access(["--profile", "staging"]).trust() == .system)
        let other = folder.file("other.pem").path
        #expect(try access(["--ca", other]).trust() == .authority(path: other))
        #expect(try access(["--insecure"]).trust() == .anybody)
        try FileManager.default.removeItem(at: folder.file("ca.pem"))
        let error = try #require(throws: UsageError.self) { try access([]).trust() }
        #expect(error.description.hasPrefix("profile shop: ca \(folder.file("ca.pem").path): the file does not exist"), "\(error)")
    }

    @Test func variablesThatReplaceTheKeyOfAProfileAreReported() throws {
        #expect(try access([]).overridden == nil)
        #expect(
            try access([], Self.bothVariables).overridden
                == "using PATCHBAY_API_KEY and PATCHBAY_API_SECRET instead of the key of the profile shop")
        #expect(try access([], ["PATCHBAY_API_KEY": "shop-key"]).overridden == nil, "the same key")
        #expect(try access(["--api-key", "a", "--api-secret", "b"], Self.bothVariables).overridden == nil)
        #expect(try access(["--url", "wss://other"], Self.bothVariables).overridden == nil, "no other was to be expected")
    }
}

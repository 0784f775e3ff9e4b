import Foundation
import Testing

/// `patchbay profile`, and commands that use a profile.
@Suite(.timeLimit(.minutes(2)))
struct ProfileCommandTests {
    private static let secret = "a-secret-of-at-least-32-characters"
    private static let authority = Program.package.appending(path: "certs/dev/ca.cert.pem").path

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Program.Outcome {
        let all = ["XDG_CONFIG_HOME": folder.url.path, "MY_SECRET": Self.secret].merging(environment) { $1 }
        return try await Program.run(nil, arguments, environment: all, seconds: 30)
    }

    private func run(_ line: String) async throws -> Program.Outcome {
        try await run(line.split(separator: " ").map(String.init))
    }

    private var file: String? { try? String(contentsOf: folder.file("patchbay/profiles.json"), encoding: .utf8) }

    @Test func profilesAreAddedChosenListedAndRemoved() async throws {
        #expect(try await run("profile list").output == "no profiles; `patchbay profile add` adds one\n")
        let first = try await run("profile add shop --url wss://shop.example --api-key my-app --api-secret-env MY_SECRET")
        #expect(first.output == "added the profile shop; it is the default\n", "\(first.complaint)")
        let key = folder.file("key").path
        try Data("\(Self.secret)\n".utf8).write(to: URL(filePath: key))
        let second = try await run(
            [
                "profile", "add", "staging", "--url", "wss://staging.example", "--api-key", "app", "--api-secret-file", key, "--ca",
                Self.authority,
            ])
        #expect(second.output == "added the profile staging; `patchbay profile use staging` makes it the default\n", "\(second.complaint)")
        #expect(try await run("profile use staging").output == "the default profile is staging\n")
        let table = try await run("profile list").output.split(separator: "\n").map { $0.split(separator: #/ {2,}/#).map(String.init) }
        #expect(
            table == [
                ["NAME", "URL", "API KEY", "SECRET", "CA", "DEFAULT"],
                ["shop", "wss://shop.example", "my-app", "variable MY_SECRET", "-", "-"],
                ["staging", "wss://staging.example", "app", "file \(key)", Self.authority, "yes"],
            ])
        let list = try await run("profile list --json")
        let views = try #require(try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        #expect(views.map { $0["name"] as? String } == ["shop", "staging"])
        #expect(views[0]["api_secret_env"] as? String == "MY_SECRET" && views[0]["default"] as? Bool == false)
        #expect(views[1]["api_secret_file"] as? String == key && views[1]["default"] as? Bool == true)
        #expect(file?.contains(Self.secret) == false, "secrets stay where they are")
        #expect(try await run("profile remove staging").output == "removed the profile staging; there is no default profile now\n")
        #expect(try await run("profile remove shop").output == "removed the profile shop\n")
    }

    @Test func whatCannotBeAProfileIsOneClearLineAndExitCode2() async throws {
        let good = "--url wss://a.example --api-key k --api-secret-env MY_SECRET"
        _ = try await run("profile add taken \(good)")
        for (arguments, says) in [
            ("add taken \(good)", "there is a profile taken; pass --replace, or choose another name"),
            ("add a --url ws://a --api-key k --api-secret-env MY_SECRET", "--url: \"ws://a\" is not encrypted"),
            ("add a --url wss://a --api-key k --api-secret-env hunter2", "this option takes a name, not the secret"),
            ("add a --url wss://a --api-key k --api-secret-file /nowhere", "--api-secret-file: the file cannot be read"),
            ("add a \(good) --ca /nowhere.pem", "--ca /nowhere.pem: the file does not exist or cannot be read"),
            ("use takn", "takn: there is no such profile; did you mean taken?"),
            ("remove nobody", "nobody: there is no such profile; use one of taken"),
        ] {
            let outcome = try await run("profile \(arguments)")
            #expect(outcome.status == 2 && outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
            #expect(!outcome.complaint.contains("hunter2"))
        }
        for arguments in [
            "add a --url wss://a --api-key k", "add a/b \(good)", "add a \(good) --api-secret-file f", "add a \(good) --api-secret s",
        ] {
            #expect(try await run("profile \(arguments)").status == 2, "\(arguments)")
        }
        let replaced = try await run("profile add taken --url wss://b.example --api-key k --api-secret-env MY_SECRET --replace")
        #expect(replaced.status == 0 && file?.contains("wss://b.example") == true, "\(replaced.complaint)")
    }

    @Test func commandsUseTheGatewayAndTheKeyOfAProfile() async throws {
        let gateway = try await ServedGateway(environment: ["PATCHBAY_KEYS": #"{"my-app": "\#(Self.secret)"}"#])
        let added = try await run(
            "profile add local --url \(gateway.url) --api-key my-app --api-secret-env MY_SECRET --ca \(Self.authority)")
        #expect(added.status == 0, "\(added.complaint)")
        let list = try await run("room list")
        #expect(list.output == "no rooms are open\n" && list.complaint.isEmpty, "\(list.complaint)")
        let visit = try await run("join --room lobby --identity alice --json --duration 0.2")
        #expect(visit.status == 0, "\(visit.complaint)")
        let token = try await run("token --room lobby --identity bob").output.trimmingCharacters(in: .newlines)
        let guest = try await run(["join", "--token", token, "--json", "--duration", "0.2"], ["MY_SECRET": ""])
        #expect(guest.status == 0, "a token needs no key: \(guest.complaint)")

        let stranger = try await run("room list --url wss://127.0.0.1:1")
        #expect(stranger.status == 2)
        #expect(stranger.complaint.contains("the key of the profile local is for \(gateway.url) and is not used"), "\(stranger.complaint)")
        let overridden = try await run(["room", "list"], ["PATCHBAY_API_KEY": "other", "PATCHBAY_API_SECRET": "wrong"])
        #expect(overridden.status == 1, "the gateway does not know this key")
        #expect(
            overridden.complaint.hasPrefix("using PATCHBAY_API_KEY and PATCHBAY_API_SECRET instead of the key of the profile local\n"),
            "\(overridden.complaint)")
    }

    @Test func bashCompletesTheNamesOfProfiles() async throws {
        for name in ["shop", "staging"] {
            _ = try await run("profile add \(name) --url wss://a.example --api-key my-app --api-secret-env MY_SECRET")
        }
        let script = #"""
            eval "$(patchbay --generate-completion-script bash)"
            function=$(complete -p patchbay | sed 's/.*-F \([^ ]*\) .*/\1/')
            complete_last() {
                COMPREPLY=() COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
                $function "$1" "${@: -1}" "${@: -2:1}"
                echo "${COMPREPLY[@]}"
            }
            complete_last patchbay profile use s
            complete_last patchbay room list --profile st
            """#
        let path = try Program.executable.deletingLastPathComponent().path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["bash", "--norc", "-c", script],
            environment: ["XDG_CONFIG_HOME": folder.url.path, "PATH": path], seconds: 30)
        #expect(outcome.output == "shop staging\nstaging\n", "\(outcome.complaint)")
    }

    @Test func agentCommandsUseProfiles() async throws {
        let scenarios = folder.file("scenarios.yaml").path
        let recording = Program.package.appending(path: "demo/ps-goforward.wav").path
        try Data("scenarios: [{name: a, steps: [{play: \(recording)}]}]".utf8).write(to: URL(filePath: scenarios))
        _ = try await run("profile add nowhere --url wss://127.0.0.1:1 --api-key my-app --api-secret-env MY_SECRET")
        for (arguments, status, says) in [
            ("agent evaluate \(scenarios) --profile nowhere", 1, "no gateway answers at 127.0.0.1 port 1"),
            ("agent evaluate \(scenarios) --url wss://127.0.0.1:2", 2, "the key of the profile nowhere is for wss://127.0.0.1:1"),
            ("agent start --url wss://127.0.0.1:2", 2, "the key of the profile nowhere is for wss://127.0.0.1:1"),
            ("agent start --profile nobody", 2, "--profile nobody: there is no such profile; use one of nowhere"),
            ("agent dev --profile nowhere", 2, "development gateways need no profile"),
        ] {
            let outcome = try await run(arguments)
            #expect(outcome.status == status && outcome.complaint.contains(says), "\(arguments): \(outcome.complaint)")
        }
    }
}

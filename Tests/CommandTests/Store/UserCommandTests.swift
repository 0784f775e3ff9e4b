import Foundation
import Testing

@Suite(.timeLimit(.minutes(2)))
struct UserCommandTests {
    private let folder: StoreFolder

    init() async throws {
        folder = try await StoreFolder()
    }

    private func create(_ email: String, _ password: String?) async throws -> Program.Outcome {
        try await folder.run("user", "create", email, environment: password.map { ["PATCHBAY_PASSWORD": $0] } ?? [:])
    }

    @Test func createdUsersCanLogInToARunningGateway() async throws {
        let gateway = try await ServedGateway(["--data", folder.path])
        let outcome = try await create("bob@example.org", "a good password")
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let body = #"{"email":"BOB@example.org","password":"a good password"}"#
        let token = try await Program.run(
            URL(filePath: "/usr/bin/env"),
            [
                "curl", "-sS", "--fail-with-body", "--cacert", "certs/dev/ca.cert.pem", "-d", body, "-H", "Content-Type: application/json",
                "https://127.0.0.1:\(gateway.port)/v1/auth/token",
            ], seconds: 30)
        #expect(token.status == 0 && token.output.contains("access_token"), "\(token.output)\(token.complaint)")
    }

    @Test func whatCannotBeAnAccountIsOneClearLineAndExitCode2() async throws {
        for (email, password, says) in [
            ("ann@example.org", "a good password", "has an account"), ("ann", "a good password", "e-mail"),
            ("bob@example.org", "short", "password"), ("bob@example.org", nil, "no password"),
        ] {
            let outcome = try await create(email, password)
            #expect(outcome.status == 2 && outcome.complaint.contains(says), "\(outcome.complaint)")
            #expect(outcome.complaint.split(separator: "\n").count == 1, "\(outcome.complaint)")
        }
    }

    @Test func thePasswordIsNeverShown() async throws {
        let outcome = try await create("bob@example.org", "a good password")
        #expect(!outcome.output.contains("good") && !outcome.complaint.contains("good"))
    }
}

import Foundation
import Identity
import Testing
import Wire

@Suite(.timeLimit(.minutes(2)))
struct TokenCommandTests {
    private func verified(_ text: String) throws -> AccessToken {
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return try TokenVerifier().verify(token, keys: keys, now: Int64(Date().timeIntervalSince1970))
    }

    @Test func tokensContainTheRequestedClaims() async throws {
        let outcome = try await Program.run(
            nil,
            [
                "token", "--room", "lobby", "--identity", "helper", "--name", "Helper", "--ttl", "60", "--kind", "agent", "--session", "S1",
                "--can-publish=false", "--attribute", "mood=calm",
            ])
        #expect(outcome.status == 0)
        let token = try verified(outcome.output)
        #expect(token.identity == "helper")
        #expect(token.name == "Helper")
        #expect(token.kind == .agent)
        #expect(token.sessionID == "S1")
        #expect(token.attributes == ["mood": "calm"])
        #expect(try JoinGrant(token).room == "lobby")
        #expect(try JoinGrant(token).permission.canPublish == false)
        #expect(try JoinGrant(token).permission.canPublishData == false, "data follows publishing, as LiveKit has it")
    }

    @Test func assistantTokensCannotJoinRooms() async throws {
        let outcome = try await Program.run(nil, ["token", "--assistant", "helper"])
        let token = try verified(outcome.output)
        #expect(token.identity == "assistant:helper" && token.video?.agent == true)
        #expect(throws: GrantError.self) { try JoinGrant(token) }
    }

    @Test(arguments: [
        [], ["--room", "r"], ["--identity", "a"], ["--admin"], ["--room", "r", "--identity", "a", "--ttl", "0"], ["--assistant", ""],
        ["--assistant", "a", "--room", "r"],
    ])
    func aTokenThatMakesNoSenseIsRefusedWithExitCode2(arguments: [String]) async throws {
        let outcome = try await Program.run(nil, ["token"] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
    }

    @Test func anUnknownKeyNeedsItsSecret() async throws {
        let outcome = try await Program.run(nil, ["token", "--api-key", "mine", "--room", "r", "--identity", "a"])
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains("PATCHBAY_API_SECRET"))
    }
}

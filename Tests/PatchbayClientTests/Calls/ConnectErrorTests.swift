import Identity
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct ConnectErrorTests {
    private func refusal(of token: String, at gateway: TestGateway) async throws -> ConnectError {
        try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(url: gateway.url, token: token, options: gateway.options)
        }
    }

    @Test func malformedTokenIsUnauthorized() async throws {
        try await TestGateway.run { gateway in
            let error = try await refusal(of: "not.a.token", at: gateway)
            #expect(error.kind == .refused)
            #expect(error.status == 401)
            #expect(error.code == "malformed_token")
            #expect(!error.isRetryable)
        }
    }

    @Test func expiredTokenIsNamed() async throws {
        try await TestGateway.run { gateway in
            let error = try await refusal(of: gateway.token("alice", expiresIn: -600), at: gateway)
            #expect(error.status == 401)
            #expect(error.code == "token_expired")
            #expect(error.message.contains("expired"))
        }
    }

    @Test func missingGrantIsForbidden() async throws {
        try await TestGateway.run { gateway in
            let error = try await refusal(of: gateway.token("alice") { $0.roomJoin = false }, at: gateway)
            #expect(error.status == 403)
            #expect(error.code == "missing_grant")
        }
    }

    @Test func untrustedCertificateIsRejected() async throws {
        try await TestGateway.run { gateway in
            let error = try await #require(throws: ConnectError.self) {
                _ = try await RoomConnection.connect(url: gateway.url, token: gateway.token("alice"))
            }
            #expect(error.kind == .untrusted)
            let room = try await RoomConnection.connect(
                url: gateway.url, token: gateway.token("alice"), options: RoomOptions(trust: .anybody))
            await room.leave()
        }
    }

    @Test func unreadableCAFileIsASetupError() async throws {
        let error = try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(
                url: "wss://127.0.0.1:1", token: "x", options: RoomOptions(trust: .authority(path: "/nowhere.pem")))
        }
        #expect(error.kind == .setup)
    }

    @Test func closedPortIsUnreachable() async throws {
        let error = try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(url: "wss://127.0.0.1:1", token: "x", options: RoomOptions(trust: .anybody))
        }
        #expect(error.kind == .unreachable)
        #expect(error.isRetryable)
    }

    @Test func unknownHostFailsAtOnce() async throws {
        let error = try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(url: "wss://nobody.invalid", token: "x", options: RoomOptions(trust: .anybody))
        }
        #expect(error.kind == .unreachable)
        #expect(error.message.contains("nobody.invalid"))
    }
}

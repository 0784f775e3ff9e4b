import Foundation
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

    /// As a gateway that stops does: a client that is reconnecting must try again.
    @Test func serverThatClosesDuringTheHandshakeMayBeTriedAgain() async throws {
        let server = try SilentServer()
        let error = try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(
                url: "wss://127.0.0.1:\(server.port)", token: "x", options: RoomOptions(trust: .anybody))
        }
        #expect(error.kind == .unreachable && error.isRetryable, "\(error)")
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
        #expect(error.message.hasSuffix("the connection was refused; check host and port, and that the gateway runs"), "\(error)")
    }

    @Test func unknownHostFailsAtOnce() async throws {
        let error = try await #require(throws: ConnectError.self) {
            _ = try await RoomConnection.connect(url: "wss://nobody.invalid", token: "x", options: RoomOptions(trust: .anybody))
        }
        #expect(error.kind == .unreachable)
        #expect(error.message.hasPrefix("the host nobody.invalid is not known; check the URL"), "\(error)")
    }
}

/// Accepts one TCP connection, reads what arrives first, and closes without an answer.
private struct SilentServer {
    let port: UInt16

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in(sin_family: sa_family_t(AF_INET), sin_port: 0, sin_addr: in_addr(), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4_096)
            _ = unsafe recv(connection, &request, request.count, 0)
            close(connection)
            close(listener)
        }
    }
}

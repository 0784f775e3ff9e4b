import Identity
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct AdministrationTests {
    private func administrator(at gateway: TestGateway, of room: String) throws -> GatewayAdministrator {
        let token = try gateway.token("root", room: room) { grant in
            grant.roomAdmin = true
            grant.roomList = true
            grant.roomCreate = true
        }
        return try GatewayAdministrator(url: gateway.url, token: token, trust: gateway.options.trust)
    }

    @Test func roomsAreListedAndDescribed() async throws {
        try await TestGateway.run { gateway in
            let name = "a room, ü?"
            let alice = try await gateway.join("alice", room: name)
            let voice = try await alice.publish()
            let administrator = try administrator(at: gateway, of: name)
            let rooms = try await administrator.rooms()
            #expect(rooms.map(\.name) == [name])
            #expect(rooms.first?.numTracks == 1)
            let detail = try await administrator.room(name)
            #expect(detail.participants.map(\.identity.text) == ["alice"])
            #expect(detail.participants.first?.tracks?.first?.sid == voice.sid)
            await alice.leave()
        }
    }

    @Test func trackIsMutedAndParticipantRemoved() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let voice = try await alice.publish()
            let administrator = try administrator(at: gateway, of: "lobby")
            try await administrator.mute(voice.sid, in: "lobby")
            _ = try await alice.first { if case .gateway(.trackMuted, _) = $0 { true } else { nil } }
            try await administrator.remove(Identity(text: "alice"), from: "lobby")
            let reason = try await alice.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .closed(.removed))
        }
    }

    @Test func roomIsDeleted() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            try await administrator(at: gateway, of: "lobby").deleteRoom("lobby")
            let reason = try await alice.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .closed(.roomClosed))
        }
    }

    @Test func errorsNameTheReason() async throws {
        try await TestGateway.run { gateway in
            let administrator = try administrator(at: gateway, of: "lobby")
            await #expect(throws: AdministrationError.self) { try await administrator.room("lobby") }
            let stranger = try GatewayAdministrator(url: gateway.url, token: gateway.token("x"), trust: gateway.options.trust)
            let error = await #expect(throws: AdministrationError.self) { try await stranger.rooms() }
            guard case .refused(403, "missing_grant", _) = error else { return #expect(Bool(false), "\(error.debugDescription)") }
            let nowhere = try GatewayAdministrator(url: "https://127.0.0.1:1", token: "x", trust: .anybody)
            await #expect(throws: AdministrationError.self) { try await nowhere.rooms() }
        }
    }
}

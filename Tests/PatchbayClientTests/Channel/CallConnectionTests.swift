import Identity
import PatchbayClient
import Testing
import Wire

/// The connection of a channel: admission, reconnects, tokens.
@Suite(.timeLimit(.minutes(1)))
struct CallConnectionTests {
    private func refusal(of token: String, at url: String, _ options: RoomOptions) async throws -> ConnectError {
        try await #require(throws: ConnectError.self) {
            _ = try await Channel.connect(url: url, userToken: token, options: options)
        }
    }

    @Test func malformedTokenIsRefused() async throws {
        try await CallGateway.run { gateway in
            let error = try await refusal(of: "not.a.token", at: gateway.url, gateway.options)
            #expect(error.status == 401 && error.code == "malformed_token" && !error.isRetryable)
            let empty = try await refusal(of: "", at: gateway.url, gateway.options)
            #expect(empty.status == 401)
        }
    }

    @Test func expiredTokenIsRefused() async throws {
        try await CallGateway.run { gateway in
            let ann = try await gateway.user("ann")
            let error = try await refusal(of: try ann.token(age: 3_600), at: gateway.url, gateway.options)
            #expect(error.code == "token_expired")
        }
    }

    @Test func roomTokenIsNotAUserToken() async throws {
        try await CallGateway.run { gateway in
            let room = try TokenMinter.mint(
                AccessToken(identity: "ann", expires: 4_000_000_000, video: .joining("lobby")), with: try #require(gateway.keys.signer))
            #expect(try await refusal(of: room, at: gateway.url, gateway.options).status == 401)
        }
    }

    @Test func gatewayWithoutAccountsRefusesChannels() async throws {
        try await TestGateway.run { gateway in
            let error = try await refusal(of: try gateway.token("ann"), at: gateway.url, gateway.options)
            #expect(error.status == 404)
            #expect(error.message.contains("no accounts"))
        }
    }

    @Test func reconnectedChannelStillRings() async throws {
        try await CallGateway.run { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let ringing = try await callee.ring()
            let before = callee.device
            callee.dropConnection()
            let reason = try await callee.first { if case .reconnecting(1, .zero, let reason) = $0 { reason } else { nil } }
            #expect(reason == .lost)
            _ = try await callee.first { if case .reconnected = $0 { true } else { nil } }
            #expect(callee.device != before)
            #expect(callee.statistics.reconnects == 1)
            #expect(callee.calls[call.id]?.state == .connecting)
            // Calls returned before use the new connection.
            let his = try await ringing.answer()
            try await caller.told(.active, of: call.id)
            _ = (room, his)
        }
    }

    @Test func callSurvivesLostChannels() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let his = try await callee.ring().answer()
            let (voice, frames) = try await room.voice(heardIn: his, as: ann)
            for channel in [caller, callee] { channel.dropConnection() }
            try await voice.speak(Sound.tone(milliseconds: 60))
            #expect(await frames.prefix(3).count == 3)
            for channel in [caller, callee] {
                _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
                // The call stays on this device although its id has changed.
                #expect(channel.calls[call.id]?.state == .active)
            }
            try await call.hangUp()
            #expect(try await callee.ending() == .completed)
        }
    }

    @Test func renewedTokenKeepsTheCalls() async throws {
        try await CallGateway.run { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let (call, room) = try await caller.call([bob.party])
            let his = try await callee.ring().answer()
            try await callee.told(.active, of: call.id)
            let before = callee.device
            try callee.renew(userToken: try bob.token())
            _ = try await callee.first { if case .reconnected = $0 { true } else { nil } }
            #expect(callee.device != before)
            try await callee.told(.active, of: call.id)
            #expect(his.statistics.reconnects == 0)
            _ = room
        }
    }

    @Test func channelEndsWithItsToken() async throws {
        try await CallGateway.run { gateway in
            let ann = try await gateway.user("ann")
            // Expires within the allowed clock skew, some seconds from now.
            let channel = try await ann.device(age: 900 + 54)
            let reason = try await channel.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .closed(.tokenRevoked))
            #expect(channel.disconnection == reason)
        }
    }

    @Test func tokenSourceRenewsOnTheSameConnection() async throws {
        try await CallGateway.run { gateway in
            let (ann, bob) = (try await gateway.user("ann"), try await gateway.user("bob"))
            // The first one expires some seconds from now.
            let (caller, callee) = (try await ann.device(), try await bob.device(renewing: [900 + 56, 0]))
            let device = callee.device
            try await Task.sleep(for: .seconds(6))
            let (_, room) = try await caller.call([bob.party])
            _ = try await callee.ring()
            #expect(callee.device == device && callee.statistics.reconnects == 0)
            _ = room
        }
    }

    @Test func expiredChannelReconnectsWithAFreshToken() async throws {
        try await CallGateway.run { gateway in
            let bob = try await gateway.user("bob")
            // The second one has expired and is not retried before the first expires.
            let channel = try await bob.device(renewing: [900 + 56, 5_000, 0])
            let reason = try await channel.first { if case .reconnecting(_, _, let reason) = $0 { reason } else { nil } }
            #expect(reason == .closed(.tokenRevoked))
            _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
        }
    }

    @Test func channelWithoutAValidTokenFails() async throws {
        try await CallGateway.run { gateway in
            let bob = try await gateway.user("bob")
            let error = await #expect(throws: ConnectError.self) { _ = try await bob.device(renewing: [5_000]) }
            #expect(error?.code == "token_expired")
        }
    }

    @Test func requestsOnAClosedChannelFail() async throws {
        try await CallGateway.run { gateway in
            let (_, bob, caller, callee) = try await gateway.annAndBob()
            let (_, room) = try await caller.call([bob.party])
            let ringing = try await callee.ring()
            await callee.close()
            await callee.close()
            await #expect(throws: CallFailure.request(.ended)) { _ = try await ringing.answer() }
            await #expect(throws: RequestFailure.ended) { try await ringing.reject() }
            _ = room
        }
    }

    @Test func releasedChannelCloses() async throws {
        try await CallGateway.run { gateway in
            let ann = try await gateway.user("ann")
            var channel: Channel? = try await ann.device()
            let events = try #require(channel?.events)
            channel = nil
            var last: ChannelEvent?
            for await event in events { last = event }
            guard case .disconnected(.left) = last else { return #expect(Bool(false), "the end comes last") }
        }
    }
}

import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct ReconnectTests {
    @Test func aLostLineIsFoundAgainWithItsTracks() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish(name: "mic")
            try await voice.mute()
            try await voice.mute(false)
            let before = voice.sid
            _ = try await bob.track(of: "alice")
            try await voice.speak(Sound.tone(milliseconds: 60))

            alice.cutLine()
            var told: [String] = []
            for await event in alice.events {
                switch event {
                case .gateway(.hello, _): told.append("hello")
                case .reconnecting(let attempt, let delay, let reason):
                    told.append("reconnecting \(attempt)")
                    #expect(delay == .zero)
                    #expect(reason == .lost)
                case .reconnected: told.append("reconnected")
                case .trackRepublished(let track, let was):
                    #expect(track === voice)
                    #expect(was == before)
                    told.append("republished")
                default: break
                }
                if told.last == "republished" { break }
            }
            #expect(told == ["hello", "reconnecting 1", "hello", "reconnected", "republished"])
            #expect(alice.statistics.reconnects == 1)
            #expect(voice.sid != before)

            let sid = voice.sid
            let track = try await bob.first {
                if case .gateway(.trackPublished(let track), _) = $0, track.sid == sid { track } else { nil }
            }
            #expect(track.name == "mic")
            let frames = bob.frames(of: track.sid)
            try await voice.speak(Sound.tone(milliseconds: 100))
            #expect(await frames.prefix(5).count == 5)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func aListenersStreamGoesOn() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            let frames = bob.frames(of: track.sid)
            try await voice.speak(Sound.tone(milliseconds: 100))
            while bob.statistics.framesReceived < 5 { try await Task.sleep(for: .milliseconds(5)) }
            bob.cutLine()
            _ = try await bob.first { if case .reconnected = $0 { true } else { nil } }
            try await voice.speak(Sound.tone(milliseconds: 100))
            #expect(await frames.prefix(10).count == 10)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func requestsOnTheWayFailWhenTheLineBreaks() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            bob.onProcedure("hang") { _ in
                try await Task.sleep(for: .seconds(30))
                return ""
            }
            async let answer = { () async -> RequestFailure? in
                do throws(RequestFailure) { _ = try await alice.call("hang", of: Identity(text: "bob")) } catch { return error }
                return nil
            }()
            _ = try await bob.first { if case .gateway(.procedureCalled, _) = $0 { true } else { nil } }
            alice.cutLine()
            #expect(await answer == .notConnected)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func whoDoesNotWantToIsNotReconnected() async throws {
        try await TestGateway.run { gateway in
            var options = gateway.options
            options.reconnect = .never
            let alice = try await RoomConnection.connect(url: gateway.url, token: gateway.token("alice"), options: options)
            alice.cutLine()
            let reason = try await alice.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .lost)
        }
    }

    @Test func theOlderOfTwoWithOneIdentityStaysAway() async throws {
        try await TestGateway.run { gateway in
            let older = try await gateway.join("alice")
            let newer = try await gateway.join("alice")
            let reason = try await older.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .closed(.duplicateIdentity))
            #expect(newer.disconnection == nil)
            await newer.leave()
        }
    }
}

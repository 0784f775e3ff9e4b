import Engine
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct ReconnectTests {
    @Test func lateReconnectRepublishesTracks() async throws {
        try await TestGateway.run(room: RoomSettings(resumeWindow: .zero)) { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish(name: "mic")
            try await voice.mute()
            try await voice.mute(false)
            let before = voice.sid
            _ = try await bob.track(of: "alice")
            try await voice.speak(Sound.tone(milliseconds: 60))

            alice.dropConnection()
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

    @Test func lostConnectionIsResumedWithItsTracks() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish(name: "mic")
            let (before, local) = (voice.info, alice.localParticipant.sid)
            let track = try await bob.track(of: "alice")
            let frames = bob.frames(of: track.sid)
            try await voice.speak(Sound.tone(milliseconds: 60))
            // What the gateway has not read is lost with the connection.
            while bob.statistics.framesReceived < 3 { try await Task.sleep(for: .milliseconds(5)) }

            alice.dropConnection()
            // Talk events may arrive before or after the loss.
            let told = try await alice.words(until: "reconnected").filter { !["stats", "talkStarted", "talkStopped"].contains($0) }
            #expect(told.suffix(3) == ["reconnecting 1", "hello", "reconnected"])
            #expect(alice.hello.resumed == true)
            #expect(alice.localParticipant.sid == local)
            #expect(voice.info == before)
            try await voice.speak(Sound.tone(milliseconds: 100))
            #expect(await frames.prefix(8).count == 8)
            #expect(alice.statistics.reconnects == 1)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func resumeReplaysMissedEventsOnceAndInOrder() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let numbers = Task {
                var numbers: [Int] = []
                for await event in alice.events {
                    if case .gateway(.data(_, _, .text(let number)), _) = event, let number = Int(number) { numbers.append(number) }
                    if numbers.last == 199 { break }
                }
                return numbers
            }
            for number in 0..<200 {
                if number % 10 == 5 { alice.dropConnection() }
                try await bob.sendData("\(number)", topic: "n")
                // Wait for the reconnect before dropping again.
                if number % 10 == 9 { try await alice.hasReconnected(UInt64(number / 10 + 1)) }
            }
            #expect(await numbers.value == Array(0..<200))
            #expect(alice.statistics.reconnects == 20)
            #expect(bob.participants.map(\.identity.text) == ["alice"])
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func muteDuringAReconnectIsApplied() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            alice.dropConnection()
            // The connection may break before the request is sent, handled or answered.
            do throws(RequestFailure) { try await voice.mute() } catch { #expect(error == .notConnected && error.isRetryable) }
            try await alice.hasReconnected(1)
            let isMuted = bob.snapshot.tracks.first { $0.sid == track.sid }?.muted
            if isMuted != true {
                _ = try await bob.first { if case .gateway(.trackMuted(track.sid, _), _) = $0 { true } else { nil } }
            }
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func holdOutlivesASession() async throws {
        try await TestGateway.run(room: RoomSettings(resumeWindow: .zero)) { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            try await alice.hold(true)
            _ = try await bob.first { if case .gateway(.callHeld, _) = $0 { true } else { nil } }
            alice.dropConnection()
            try await alice.hasReconnected(1)
            #expect(alice.hello.resumed != true)
            _ = try await bob.first { if case .gateway(.callHeld, _) = $0 { true } else { nil } }
            try await alice.hold(false)
            alice.dropConnection()
            try await alice.hasReconnected(2)
            try await alice.sendData("last", topic: "n")
            let isHeldAgain = try await bob.first {
                if case .gateway(.callHeld, _) = $0 { true } else if case .gateway(.data, _) = $0 { false } else { nil as Bool? }
            }
            #expect(!isHeldAgain)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func aProcedureIsAnsweredAfterAResume() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let (calls, called) = AsyncStream<Void>.makeStream()
            let (lock, unlock) = AsyncStream<Void>.makeStream()
            bob.onProcedure("slow") { _ in
                called.yield()
                for await _ in lock { break }
                return "done"
            }
            bob.onProcedure("quoted") { _ in String(repeating: "\u{1}", count: 15_000) }
            async let answer = alice.call("slow", of: Identity(text: "bob"))
            for await _ in calls { break }
            bob.dropConnection()
            _ = try await bob.first { if case .reconnecting = $0 { true } else { nil } }
            unlock.yield()
            #expect(try await answer == "done")
            #expect(bob.hello.resumed == true)
            // Escaped, it exceeds the limit of messages.
            let failure = await #expect(throws: RequestFailure.self) { try await alice.call("quoted", of: Identity(text: "bob")) }
            #expect(failure?.procedureError?.code == ProcedureError.responseTooLarge.code)
            #expect(bob.statistics.reconnects == 1)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func frameStreamContinuesAfterAReconnect() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            let frames = bob.frames(of: track.sid)
            try await voice.speak(Sound.tone(milliseconds: 100))
            while bob.statistics.framesReceived < 5 { try await Task.sleep(for: .milliseconds(5)) }
            bob.dropConnection()
            _ = try await bob.first { if case .reconnected = $0 { true } else { nil } }
            try await voice.speak(Sound.tone(milliseconds: 100))
            #expect(await frames.prefix(10).count == 10)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func pendingRequestsFailWhenTheConnectionBreaks() async throws {
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
            alice.dropConnection()
            #expect(await answer == .notConnected)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func reconnectNeverEndsTheRoom() async throws {
        try await TestGateway.run { gateway in
            var options = gateway.options
            options.reconnect = .never
            let alice = try await RoomConnection.connect(url: gateway.url, token: gateway.token("alice"), options: options)
            alice.dropConnection()
            let reason = try await alice.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
            #expect(reason == .lost)
        }
    }

    @Test func duplicateIdentityEndsTheOlderConnection() async throws {
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

import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    @Test func sentMessagesReachTheOtherParticipant() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob", kind: .agent)

            try await alice.sendData("hello", topic: "t")
            try await alice.sendData([1, 2, 255], topic: "bytes", to: [Identity(text: "bob")])
            let textID = try await alice.sendText("good day")
            try await alice.sendDigits("12#")
            try await alice.hold(true)
            try await alice.hold(false)
            try await alice.update(name: "Alice", attributes: ["mood": "fine"])

            var told: [Event] = []
            for await event in bob.events {
                guard case .gateway(let event, _) = event else { continue }
                told.append(event)
                if case .participantUpdated = event { break }
            }
            let from = Identity(text: "alice")
            #expect(told.contains(.data(from: from, topic: "t", .text("hello"))))
            #expect(told.contains(.data(from: from, topic: "bytes", .base64("AQL/"))))
            #expect(told.contains(.text(id: textID, from: from, topic: TextMessage.chatTopic, text: "good day")))
            #expect(told.contains(.digits(from: from, "12#")))
            #expect(told.contains(.callHeld(by: from)))
            #expect(told.contains(.callResumed(by: from)))
            #expect(bob.participants.first?.name == "Alice")
            #expect(bob.participants.first?.attributes["mood"] == "fine")
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func assistantStateAndSegmentsReachTheUser() async throws {
        try await TestGateway.run { gateway in
            let user = try await gateway.join("user")
            let agent = try await gateway.join("agent", kind: .agent)
            try await agent.setAgentState(.thinking)
            let segment = TranscriptSegment(id: "s1", role: .assistant, text: "well", final: true)
            try await agent.sendSegment(segment)
            let state = try await user.first { if case .gateway(.agentState(_, let state), _) = $0 { state } else { nil } }
            #expect(state == .thinking)
            let words = try await user.first { if case .gateway(.segment(let segment), _) = $0 { segment } else { nil } }
            #expect(words.text == "well")
            await user.leave()
            await agent.leave()
        }
    }

    @Test func mutingEmitsEventsAndStopsFrames() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let voice = try await alice.publish()
            let track = try await bob.track(of: "alice")
            try await voice.mute()
            let muted = try await bob.first { if case .gateway(.trackMuted(let sid, _), _) = $0 { sid } else { nil } }
            #expect(muted == track.sid)
            try await voice.speak(Sound.tone(milliseconds: 100))
            try await voice.mute(false)
            _ = try await bob.first { if case .gateway(.trackUnmuted, _) = $0 { true } else { nil } }
            #expect(bob.statistics.framesReceived == 0)
            #expect(bob.snapshot.tracks.first?.muted == false)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func refusedRequestsThrowACode() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let failure = await #expect(throws: RequestFailure.self) { try await alice.subscribe(TrackSID(text: "TR_none")) }
            guard case .refused(let error) = failure else { return #expect(Bool(false), "\(failure.debugDescription)") }
            #expect(error.code == .notFound)
            let longText = String(repeating: "x", count: 70_000)
            await #expect(throws: RequestFailure.tooLarge) { try await alice.sendText(longText) }
            await alice.leave()
        }
    }

    @Test func requestsAfterLeaveFail() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let voice = try await alice.publish()
            await alice.leave(reason: "enough")
            await alice.leave()
            await #expect(throws: RequestFailure.ended) { try await alice.sendText("anybody?") }
            await #expect(throws: RequestFailure.ended) { try await voice.mute() }
            await #expect(throws: RequestFailure.ended) { try await voice.speak(Sound.tone(milliseconds: 40)) }
            #expect(alice.disconnection == .left)
            var last: RoomEvent?
            for await event in alice.events { last = event }
            guard case .disconnected(.left) = last else { return #expect(Bool(false), "it ends with its end") }
        }
    }

    @Test func tokenIsRefreshed() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let fresh = try await alice.refreshToken()
            await alice.leave()
            let again = try await RoomConnection.connect(url: gateway.url, token: fresh.token, options: gateway.options)
            #expect(again.localParticipant.identity.text == "alice")
            await again.leave()
        }
    }

    @Test func messagesOfTheGatewayMayBeLongerThanThoseOfClients() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let bob = try await gateway.join("bob")
            let text = String(repeating: "m", count: 40_000)
            try await alice.update(metadata: text)
            try await bob.update(metadata: text)
            let carol = try await gateway.join("carol")
            #expect(carol.participants.map(\.metadata) == [text, text])
            for room in [alice, bob, carol] { await room.leave() }
        }
    }
}

import Engine
import Gateway
import Identity
import Testing
import Wire

@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RelayTests {
    let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    private func join(_ identity: String, path: String = "/v1/rtc", _ change: (inout AccessToken) -> Void = { _ in }) throws -> Caller {
        try Caller(gateway, room: "r", identity: identity, path: path, change)
    }

    @Test(arguments: [1, 2, 125, 126, 127, 500, 1_000, 1_488])
    func frameArrivesUnmodified(packetBytes: Int) throws {
        let (speaker, listener) = try (join("speaker"), join("listener"))
        let track = try speaker.publish()
        let frames = [FrameFlags.talkspurtStart, [], .dtx, .inbandFEC, [.dtx, .inbandFEC], .talkspurtEnd].enumerated().map {
            TestFrame.bytes(track.alias, $0, flags: $1, packetBytes: packetBytes)
        }
        for frame in frames { try speaker.say(frame) }
        for frame in frames { #expect(try listener.frame() == frame) }
    }

    @Test func wrappedCountersArriveUnmodified() throws {
        let (speaker, listener) = try (join("speaker"), join("listener"))
        let track = try speaker.publish()
        for number in [65_534, 65_535, 65_536, 65_537, 4_473_924, 4_473_925] {
            let frame = TestFrame.bytes(track.alias, number)
            try speaker.say(frame)
            #expect(try listener.frame() == frame)
        }
    }

    @Test func framesStayInOrderForManySubscribers() throws {
        let speaker = try join("speaker")
        let track = try speaker.publish()
        let listeners = try (0..<8).map { try join("listener \($0)") }
        let frames = (0..<100).map { TestFrame.bytes(track.alias, $0) }
        // In small bursts: a subscriber that does not keep up loses old frames.
        for burst in stride(from: 0, to: frames.count, by: 20) {
            for frame in frames[burst..<burst + 20] { try speaker.say(frame) }
            for frame in frames[burst..<burst + 20] {
                for listener in listeners { #expect(try listener.frame() == frame) }
            }
        }
    }

    @Test func framesOfABundleArriveSeparately() throws {
        let (speaker, listener) = try (join("speaker"), join("listener"))
        let track = try speaker.publish()
        let frames = (0..<50).map { TestFrame.bytes(track.alias, $0) }
        try speaker.say(Bundle.joining(frames))
        for frame in frames { #expect(try listener.frame() == frame) }
    }

    @Test func publisherDoesNotGetItsOwnFrames() throws {
        let (ann, bob) = try (join("ann"), join("bob"))
        let (annsTrack, bobsTrack) = try (ann.publish(), bob.publish())
        for number in 0..<20 {
            try ann.say(TestFrame.bytes(annsTrack.alias, number))
            try bob.say(TestFrame.bytes(bobsTrack.alias, number))
        }
        try ann.take(until: "20 frames") { $0.frames.count >= 20 }
        try bob.take(until: "20 frames") { $0.frames.count >= 20 }
        for caller in [ann, bob] { try caller.settle() }
        #expect(ann.frames.map(\.bytes) == (0..<20).map { TestFrame.bytes(bobsTrack.alias, $0) })
        #expect(bob.frames.map(\.bytes) == (0..<20).map { TestFrame.bytes(annsTrack.alias, $0) })
    }

    @Test func framesDoNotCrossRooms() throws {
        let speaker = try join("speaker")
        let stranger = try Caller(gateway, room: "s", identity: "stranger")
        let track = try speaker.publish()
        // Both rooms use the same alias: the first of each.
        let strange = try stranger.publish()
        #expect(strange.alias == track.alias)
        try speaker.say(TestFrame.bytes(track.alias, 0))
        try speaker.settle()
        try stranger.settle()
        #expect(stranger.frames.isEmpty)
    }

    @Test func lateSubscriberGetsFramesFromThenOn() throws {
        let speaker = try join("speaker")
        let track = try speaker.publish()
        for number in 0..<10 { try speaker.say(TestFrame.bytes(track.alias, number)) }
        try speaker.settle()
        let late = try join("late")
        #expect(late.hello.participants.first?.tracks?.first?.sid == track.sid)
        try speaker.say(TestFrame.bytes(track.alias, 10))
        #expect(try late.frame() == TestFrame.bytes(track.alias, 10))
    }

    @Test func noFramesBeforeAnExplicitSubscription() throws {
        let (speaker, listener) = try (join("speaker"), join("listener", path: "/v1/rtc?auto_subscribe=false"))
        let track = try speaker.publish()
        try speaker.say(TestFrame.bytes(track.alias, 0))
        try speaker.settle()
        try listener.ask(.subscribe(track.sid, subscribed: true))
        try speaker.say(TestFrame.bytes(track.alias, 1))
        #expect(try listener.frame() == TestFrame.bytes(track.alias, 1))
        try listener.ask(.subscribe(track.sid, subscribed: false))
        try speaker.say(TestFrame.bytes(track.alias, 2))
        try speaker.settle()
        try listener.settle()
        #expect(listener.frames.isEmpty)
    }

    @Test func noFramesWithoutPermissionToSubscribe() throws {
        let (speaker, listener) = try (join("speaker"), join("listener") { $0.video?.canSubscribe = false })
        let track = try speaker.publish()
        try speaker.say(TestFrame.bytes(track.alias, 0))
        try speaker.settle()
        try listener.settle()
        #expect(listener.frames.isEmpty)
        #expect(throws: RequestError.self) { try listener.ask(.subscribe(track.sid, subscribed: true)) }
    }

    @Test func trackIsAnnouncedBeforeItsFirstFrame() throws {
        let (speaker, listener) = try (join("speaker"), join("listener"))
        for number in 0..<20 {
            let track = try speaker.publish()
            try speaker.say(TestFrame.bytes(track.alias, number))
            #expect(try listener.frame() == TestFrame.bytes(track.alias, number))
            // `frame` reads messages in order, so the event arrived before the frame.
            #expect(listener.events.contains { if case .trackPublished(let info) = $0 { info.sid == track.sid } else { false } })
            listener.events.removeAll()
            try speaker.ask(.unpublish(track.sid))
        }
    }

    @Test func roomComesFromTheTokenAndNotTheQuery() throws {
        let (speaker, listener) = try (join("speaker", path: "/v1/rtc?room=s"), join("listener"))
        #expect(speaker.hello.room.name == "r")
        let track = try speaker.publish()
        try speaker.say(TestFrame.bytes(track.alias, 0))
        #expect(try listener.frame() == TestFrame.bytes(track.alias, 0))
    }

    @Test(arguments: ["patchbay.v1", "patchbay.v1, other", "other, patchbay.v1", "other,patchbay.v1,patchbay.v2"])
    func onlyThePatchbaySubprotocolIsEchoed(offer: String) throws {
        let socket = try gateway.webSocket(
            .upgrade(subprotocol: offer, with: [("Authorization", "Bearer " + TestToken.joining("r", as: "eve"))]))
        #expect(socket.answer.fields["sec-websocket-protocol"] == "patchbay.v1")
        #expect(socket.answer.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    /// Browsers cannot set headers on a WebSocket; the only alternative is the query.
    @Test(arguments: [0, 100, 8_000])
    func tokenAsSubprotocolIsAcceptedAndNotEchoed(metadataBytes: Int) throws {
        let token = TestToken.joining("r", as: "browser") { $0.metadata = String(repeating: "m", count: metadataBytes) }
        for offer in [
            "patchbay.v1, patchbay.bearer.\(token)", "patchbay.bearer.\(token),patchbay.v1", "other, patchbay.bearer.\(token), patchbay.v1",
        ] {
            let socket = try gateway.webSocket(.upgrade(subprotocol: offer))
            #expect(socket.answer.fields["sec-websocket-protocol"] == "patchbay.v1")
            #expect(!socket.answer.fields.values.contains { $0.contains("eyJ") })
        }
    }

    @Test func tokenInTheQueryIsAccepted() throws {
        let socket = try gateway.webSocket(.upgrade("/v1/rtc?access_token=\(TestToken.joining("r", as: "query"))&auto_subscribe=false"))
        #expect(socket.answer.status == 101)
    }

    @Test func newConnectionOfAnIdentityReplacesTheOldOne() throws {
        let (old, other) = try (join("twice"), join("other"))
        let new = try join("twice")
        try old.await(.bye(.duplicateIdentity, retryable: false))
        #expect(try old.closeCode() == 4104)
        #expect(new.hello.participants.map(\.identity.text) == ["other"])
        try other.await(.participantLeft(Identity(text: "twice"), reason: .duplicateIdentity))
        let track = try new.publish()
        try new.say(TestFrame.bytes(track.alias, 0))
        #expect(try other.frame() == TestFrame.bytes(track.alias, 0))
    }

    @Test func fullRoomIsRefusedWith409() throws {
        let gateway = try TestGateway { $0.room.maxParticipants = 1 }
        let first = try Caller(gateway, room: "r", identity: "first")
        // The room is known to be full a moment after `hello`.
        try first.settle()
        let answer = try HTTPAsk.upgrade(token: TestToken.joining("r", as: "second")).answer(port: gateway.port)
        #expect(answer?.status == 409)
        #expect(answer?.code == "room_full")
        #expect(try gateway.value(.joinRefused("room_full")) == 1)
        try first.settle()
    }

    @Test func missingRoomIsRefusedWith404() throws {
        let gateway = try TestGateway { $0.createsRooms = false }
        let answer = try HTTPAsk.upgrade(token: TestToken.joining("r", as: "eve")).answer(port: gateway.port)
        #expect(answer?.status == 404)
        #expect(answer?.code == "room_not_found")
        let mayCreate = TestToken.joining("r", as: "ann") { $0.video?.roomCreate = true }
        let ann = try gateway.webSocket(.upgrade(token: mayCreate))
        // The room exists once `hello` is sent, a moment after the upgrade.
        _ = try ann.next()
        let eve = try gateway.webSocket(.upgrade(token: TestToken.joining("r", as: "eve")))
        withExtendedLifetime((ann, eve)) {}
    }

    @Test func leavingClosesWith1000() throws {
        let (ann, bob) = try (join("ann"), join("bob"))
        try ann.socket.send(text: #"{"type":"leave"}"#)
        #expect(try ann.closeCode() == 1000)
        try bob.await(.participantLeft(Identity(text: "ann"), reason: .clientInitiated))
    }
}

import Backend
import Engine
import Gateway
import Identity
import Testing
import Wire

/// Rooms whose participants are on different shards.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ShardsTests {
    private let gateway = try! TestGateway { $0.shardCount = 3 }

    /// Joins through the shard's own port.
    private func join(_ identity: String, onShard shard: Int, room: String = "r") throws -> Caller {
        try Caller(gateway, room: room, identity: identity, shard: shard)
    }

    @Test func shardPortsLeadToTheirShards() throws {
        #expect(Set(gateway.gateway.shardPorts + [gateway.port]).count == 4)
        for shard in 0..<3 {
            let caller = try join("caller \(shard)", onShard: shard, room: "room \(shard)")
            #expect(try gateway.metrics().value("patchbay_participants", ["shard": "\(shard)"]) == 1)
            withExtendedLifetime(caller) {}
        }
    }

    @Test func everybodyGetsAllTracksButItsOwn() throws {
        let callers = try (0..<6).map { try join("caller \($0)", onShard: $0 % 3) }
        let tracks = try callers.map { try $0.publish() }
        for number in 0..<30 {
            for (speaker, track) in zip(callers, tracks) { try speaker.say(TestFrame.bytes(track.alias, number)) }
            for (index, listener) in callers.enumerated() {
                var heard: [[UInt8]] = []
                for _ in 0..<5 { heard.append(try listener.frame()) }
                let expected = tracks.indices.filter { $0 != index }.map { TestFrame.bytes(tracks[$0].alias, number) }
                #expect(Set(heard) == Set(expected))
            }
        }
    }

    @Test func trackIsAnnouncedBeforeItsFirstFrameAcrossShards() throws {
        for number in 0..<20 {
            let listener = try join("listener", onShard: 2, room: "room \(number)")
            let speaker = try join("speaker", onShard: number % 3, room: "room \(number)")
            let track = try speaker.publish()
            for frame in 0..<5 { try speaker.say(TestFrame.bytes(track.alias, frame)) }
            _ = try listener.frame()
            #expect(listener.events.contains { if case .trackPublished(let named) = $0 { named.sid == track.sid } else { false } })
        }
    }

    @Test func noFrameFollowsTheMutedEvent() throws {
        let (listener, speaker) = try (join("listener", onShard: 0), join("speaker", onShard: 1))
        let track = try speaker.publish()
        for number in 0..<10 {
            for frame in 0..<5 { try speaker.say(TestFrame.bytes(track.alias, number * 10 + frame)) }
            try speaker.ask(.mute(track.sid, muted: true))
            for frame in 5..<10 { try speaker.say(TestFrame.bytes(track.alias, number * 10 + frame)) }
            try listener.await(.trackMuted(track.sid, of: Identity(text: "speaker")))
            let heard = listener.frames.count
            try speaker.ask(.mute(track.sid, muted: false))
            try listener.await(.trackUnmuted(track.sid, of: Identity(text: "speaker")))
            #expect(listener.frames.count == heard)
            listener.frames.removeAll()
        }
        #expect(try gateway.value(.dropped("muted")) == 50)
    }

    @Test(arguments: 0..<5)
    func framesBeforeTheMutedEventAreDelivered(_: Int) throws {
        let (listener, speaker) = try (join("listener", onShard: 0), join("speaker", onShard: 1))
        let track = try speaker.publish()
        // A hundred frames in all, which is a track's burst.
        for number in 0..<20 {
            let words = (0..<5).map { TestFrame.bytes(track.alias, number * 5 + $0) }
            for frame in words { try speaker.say(frame) }
            try speaker.ask(.mute(track.sid, muted: true))
            try listener.await(.trackMuted(track.sid, of: Identity(text: "speaker")))
            #expect(listener.frames.map(\.bytes) == words)
            listener.frames.removeAll()
            try speaker.ask(.mute(track.sid, muted: false))
        }
    }

    @Test func framesBeforeATrackEndsAreDelivered() throws {
        let (listener, speaker) = try (join("listener", onShard: 0), join("speaker", onShard: 1))
        for number in 0..<50 {
            let track = try speaker.publish()
            for frame in 0..<5 { try speaker.say(TestFrame.bytes(track.alias, frame)) }
            try speaker.ask(.unpublish(track.sid))
            try listener.await(.trackUnpublished(track.sid, of: Identity(text: "speaker")))
            #expect(listener.frames.count == 5, "in round \(number)")
            listener.frames.removeAll()
        }
    }

    @Test func reusedSlotGetsNoFramesOfItsPreviousOccupant() throws {
        let speaker = try join("speaker", onShard: 0)
        let track = try speaker.publish()
        for number in 0..<30 {
            let listener = try join("listener \(number)", onShard: 1)
            try speaker.say(TestFrame.bytes(track.alias, number))
            _ = try listener.frame()
            listener.socket.socket.reset()
            let stranger = try join("stranger", onShard: 1, room: "elsewhere \(number)")
            for frame in 0..<5 { try speaker.say(TestFrame.bytes(track.alias, frame)) }
            #expect(throws: (any Error).self) { try stranger.frame(within: .milliseconds(20)) }
        }
    }

    @Test func fullRoomIsFullOnAllShards() throws {
        let gateway = try TestGateway {
            $0.shardCount = 3
            $0.room.maxParticipants = 2
        }
        let first = try Caller(gateway, room: "r", identity: "first", shard: 0)
        let second = try Caller(gateway, room: "r", identity: "second", shard: 1)
        // The other shards know that the room is full a moment after `hello`.
        try first.settle()
        let answer = try HTTPAsk.upgrade(token: TestToken.joining("r", as: "third")).answer(port: gateway.gateway.shardPorts[2])
        #expect(answer?.status == 409)
        // A reconnecting identity replaces itself.
        let again = try Caller(gateway, room: "r", identity: "second", shard: 2)
        #expect(try second.closeCode() == 4104)
        withExtendedLifetime((first, again)) {}
    }

    @Test func administratorReachesRoomsThroughAnyShard() throws {
        let ann = try join("ann", onShard: 0)
        let bob = try join("bob", onShard: 1)
        let cid = try join("cid", onShard: 2, room: "other")
        for port in gateway.gateway.shardPorts {
            let rooms = try #require(try administer("GET", "/v1/rooms", port: port))
            #expect(rooms.text.contains(#""name":"r""#) && rooms.text.contains(#""name":"other""#))
        }
        let port = gateway.gateway.shardPorts[2]
        #expect(try administer("DELETE", "/v1/rooms/r/participants/bob", port: port)?.status == 200)
        #expect(try bob.closeCode() == 4103)
        #expect(try administer("DELETE", "/v1/rooms/r", port: port)?.status == 200)
        #expect(try ann.closeCode() == 4102)
        #expect(try administer("GET", "/v1/rooms/r", port: port)?.status == 404)
        withExtendedLifetime(cid) {}
    }

    private func administer(_ method: String, _ path: String, port: Int) throws -> HTTPAnswer? {
        let token = TestToken.administering {
            $0.room = "r"
            ($0.roomAdmin, $0.roomList, $0.roomCreate) = (true, true, true)
        }
        return try HTTPAsk(method: method, path: path, fields: [("Authorization", "Bearer " + token), ("Connection", "close")])
            .answer(port: port)
    }
}

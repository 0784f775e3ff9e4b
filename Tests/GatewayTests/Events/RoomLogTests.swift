import Backend
import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// `GET /v1/rooms/{room}/events`: the latest events of a room, for its administrators.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomLogTests {
    private static func administrator(of room: String) -> [(name: String, value: String)] {
        let token = TestToken.administering {
            $0.roomAdmin = true
            $0.room = room
        }
        return [("Authorization", "Bearer " + token)]
    }

    private func ask(_ gateway: TestGateway, _ room: String, as other: String? = nil) throws -> HTTPAnswer {
        let ask = HTTPAsk(path: "/v1/rooms/\(room)/events", fields: Self.administrator(of: other ?? room))
        return try #require(try HTTPConnection(gateway).answer(to: ask))
    }

    private func events(_ answer: HTTPAnswer) -> [[String: Any]] { answer.json?["events"] as? [[String: Any]] ?? [] }

    private func types(_ answer: HTTPAnswer) -> [String] { events(answer).compactMap { $0["type"] as? String } }

    @Test(arguments: [[0, 0], [0, 1]]) func tellsWhoCameAndWentInOrder(shards: [Int]) throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: shards[0])
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: shards[1])
        let track = try bob.publish()
        try ann.ask(.segment(TranscriptSegment(id: "s", role: .user, text: "a secret", final: true)))
        let mute = HTTPAsk.json(
            "PATCH", "/v1/rooms/r/tracks/\(track.sid)", #"{"muted":true}"#, with: Self.administrator(of: "r").map { ($0.name, $0.value) })
        #expect(try HTTPConnection(gateway).answer(to: mute)?.status == 200)
        try bob.ask(.unpublish(track.sid))
        let remove = HTTPAsk(method: "DELETE", path: "/v1/rooms/r/participants/bob", fields: Self.administrator(of: "r"))
        #expect(try HTTPConnection(gateway).answer(to: remove)?.status == 200)

        let answer = try ask(gateway, "r")
        #expect(answer.status == 200 && answer.json?["removed"] as? Int == 0)
        #expect(
            types(answer) == [
                "room.started", "participant.joined", "participant.joined", "track.published", "track.muted", "track.unpublished",
                "participant.left",
            ])
        let events = events(answer)
        #expect(events.dropFirst().map { $0["participant"] as? String } == ["ann", "bob", "bob", "bob", "bob", "bob"])
        #expect(events[3]["track"] as? String == track.sid.text && events[3]["source"] as? String == "microphone")
        #expect(events[6]["reason"] as? String == "PARTICIPANT_REMOVED")
        #expect(!answer.text.contains("secret"))
        let times = events.compactMap { $0["at"] as? Int64 }
        #expect(times == times.sorted() && abs((times.last ?? 0) - TestToken.now * 1_000) < 30_000)
    }

    @Test func needsTheRoomAndItsAdministrator() throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(try ask(gateway, "r", as: "s").status == 403)
        #expect(try gateway.get("/v1/rooms/r/events")?.status == 401)
        let missing = try ask(gateway, "s")
        #expect(missing.status == 404 && missing.code == "room_not_found")
        withExtendedLifetime(ann) {}
    }

    @Test func keepsTheLatestEvents() throws {
        var log = RoomLog()
        let ann = Identity(text: "ann")
        for number in 0..<RoomLog.countMax + 50 { log.append(.held(ann, number.isMultiple(of: 2)), at: Int64(number)) }
        let view = log.view
        #expect(view.events.count == RoomLog.countMax && view.removed == 50)
        #expect(view.events.first?.at == 50 && view.events.last?.at == Int64(RoomLog.countMax + 49))
        #expect(view.events.first?.type == "call.held" && view.events.last?.type == "call.resumed")
    }

    @Test func endsWithTheRoom() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r"))
        #expect(try ann.closeCode() == 4102)
        let again = try Caller(gateway, room: "r", identity: "ann")
        #expect(types(try ask(gateway, "r")) == ["room.started", "participant.joined"])
        withExtendedLifetime(again) {}
    }

    @Test func activeSpeakersAreListed() throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let list = TestToken.administering { $0.roomList = true }
        let rooms = HTTPAsk(path: "/v1/rooms", fields: [("Authorization", "Bearer " + list)])
        let answer = try #require(try HTTPConnection(gateway).answer(to: rooms))
        let room = try #require((answer.json?["rooms"] as? [[String: Any]])?.first)
        #expect(room["num_speakers"] as? Int == 0)
        let detail = HTTPAsk(path: "/v1/rooms/r", fields: Self.administrator(of: "r"))
        #expect(try HTTPConnection(gateway).answer(to: detail)?.json?["active_speakers"] as? [String] == [])
        withExtendedLifetime(ann) {}
    }

    @Test func participantsWhoseConnectionIsLostAreListed() throws {
        let gateway = try TestGateway { $0.room.resumeWindow = .seconds(20) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        let detail = HTTPAsk(path: "/v1/rooms/r", fields: Self.administrator(of: "r"))
        func reconnecting() throws -> [[String: Any]] {
            try #require(try HTTPConnection(gateway).answer(to: detail)?.json?["reconnecting"] as? [[String: Any]])
        }
        #expect(try reconnecting().isEmpty)
        bob.socket.socket.reset()
        try Patience.until("the loss is listed") { try !reconnecting().isEmpty }
        let lost = try reconnecting()
        #expect(lost.map { $0["participant"] as? String } == ["bob"])
        #expect((0..<20_000).contains(try #require(lost.first?["lost_ms"] as? Int)))
        withExtendedLifetime(ann) {}
    }
}

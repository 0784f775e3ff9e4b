import Backend
import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// Audit events of a call over real sockets.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomAuditEventTests {
    @Test(arguments: [[0, 0], [0, 1]])
    func callIsReportedFromBeginningToEnd(shards: [Int]) async throws {
        let auditEvents = AuditEventQueue()
        let gateway = try TestGateway(auditEvents: auditEvents)
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: shards[0])
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: shards[1])
        let track = try bob.publish()
        try bob.ask(.unpublish(track.sid))
        try bob.ask(.hold(true))
        try bob.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try bob.closeCode() == 1000)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r"))
        #expect(try ann.closeCode() == 4102)
        let words = await auditEvents.namesToTheEnd()
        #expect(words == ["started", "joined", "joined", "published", "unpublished", "held", "left", "left", "finished"])
    }

    @Test func transcriptsAreReportedOnlyOnRequest() async throws {
        let auditEvents = AuditEventQueue { $0.hasPrefix("session-") ? .eventsAndText : .events }
        let gateway = try TestGateway(auditEvents: auditEvents)
        let words = ["session-1": "for the record", "lobby": "between us"]
        for (room, text) in words.sorted(by: { $0.key < $1.key }) {
            let ann = try Caller(gateway, room: room, identity: "ann") { $0.sessionID = "s" }
            try ann.ask(.segment(TranscriptSegment(id: "s1", role: .user, text: text, final: true)))
            #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: room))
        }
        var said: [Room.TranscribedSegment] = []
        var ends = 0
        for await item in auditEvents {
            guard case .event(let audit) = item, case .room(let event) = audit.event else { continue }
            if case .transcribed(let segment) = event { said.append(segment) }
            if case .finished = event { ends += 1 }
            if ends == 2 { break }
        }
        #expect(said.map(\.segment.text) == ["for the record"])
        #expect(said.first?.sessionID == "s")
    }

    @Test func timesUseTheWallClock() async throws {
        let auditEvents = AuditEventQueue { _ in .eventsAndText }
        let gateway = try TestGateway(auditEvents: auditEvents)
        let ann = try Caller(gateway, room: "r", identity: "ann")
        try ann.ask(.segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true)))
        for await item in auditEvents {
            guard case .event(let audit) = item, case .room(.transcribed(let said)) = audit.event else { continue }
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            #expect((now - 20_000...now).contains(audit.at))
            #expect(audit.time(of: said.began) <= audit.at)
            break
        }
    }

    @Test func droppedEventsAreCounted() async throws {
        let auditEvents = AuditEventQueue(countMax: 1)
        let gateway = try TestGateway(auditEvents: auditEvents)
        let ann = try Caller(gateway, room: "r", identity: "ann")
        try ann.settle()
        #expect(
            try gateway.get("/metrics")?.text.contains(#"patchbay_audit_events_lost_total{shard="0"} 1"#) == true
                || gateway.get("/metrics")?.text.contains(#"patchbay_audit_events_lost_total{shard="1"} 1"#) == true)
        _ = await auditEvents.next(upTo: 1)
        #expect(await auditEvents.next(upTo: 1) == [.missing(count: 1, rooms: ["r"])])
        withExtendedLifetime(ann) {}
    }

    @Test func stoppingGatewayReportsTheEndOfItsRooms() async throws {
        let auditEvents = AuditEventQueue()
        let gateway = try TestGateway(auditEvents: auditEvents)
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        gateway.gateway.drain()
        #expect(try ann.closeCode() == 4001)
        try await gateway.ended()
        var last: Room.AuditEvent?
        for await item in auditEvents {
            if case .event(let audit) = item, case .room(let event) = audit.event { last = event }
        }
        #expect(last == .finished(.serverShutdown))
    }
}

import Engine
import Gateway
import HTTPServer
import HTTPTypes
import Identity
import Synchronization
import Testing
import Wire

@testable import Backend

/// Rooms that services open without a participant.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomOpeningTests {
    @Test func openedRoomStartsAtOnce() async throws {
        let auditEvents = AuditEventQueue()
        let gateway = try TestGateway(auditEvents: auditEvents)
        let rooms = gateway.gateway.rooms
        let view = try await rooms.open("r", RoomOpening(emptyTimeout: .seconds(60), maxParticipants: 3, metadata: "m"))
        #expect(view.room.name == "r" && view.room.metadata == "m" && view.room.maxParticipants == 3 && view.participants.isEmpty)
        #expect(view.snapshot.info == view.room && view.snapshot.emptyTimeout == .seconds(60))
        #expect(view.snapshot.departureTimeout == .milliseconds(100), "the gateway's setting")
        let started = try await auditEvents.next("the start") { if case .started = $0 { true } else { nil } }
        #expect(started)
        #expect(try await rooms.log(of: "r").events.map(\.type) == ["room.started"])
        #expect(try await rooms.snapshots() == [view.snapshot] && rooms.roomIsOpen(named: "r"))
    }

    @Test func openRoomIsReturnedUnchanged() async throws {
        let gateway = try TestGateway()
        let rooms = gateway.gateway.rooms
        let ann = try Caller(gateway, room: "joined", identity: "ann", shard: 1)
        let opened = try await rooms.open("opened", RoomOpening(metadata: "first"))
        for (name, sid, metadata) in [("opened", opened.room.sid, "first"), ("joined", ann.hello.room.sid, "")] {
            let again = try await rooms.open(name, RoomOpening(maxParticipants: 1, metadata: "second"))
            #expect(again.room.sid == sid && again.room.metadata == metadata && again.room.maxParticipants == 0)
        }
        #expect(Set(try await rooms.snapshots().map(\.info.name)) == ["opened", "joined"])
        #expect(try await rooms.snapshots().map(\.participantCount).reduce(0, +) == 1)
    }

    @Test func roomEndsAfterItsEmptyTimeout() async throws {
        let auditEvents = AuditEventQueue()
        let gateway = try TestGateway(auditEvents: auditEvents)
        _ = try await gateway.gateway.rooms.open("r", RoomOpening(emptyTimeout: .milliseconds(50)))
        #expect(await auditEvents.namesToTheEnd() == ["started", "finished"])
        try Patience.until("the name is free") { !gateway.gateway.rooms.roomIsOpen(named: "r") }
    }

    @Test func participantsOfAllShardsJoinTheOpenedRoom() async throws {
        let gateway = try TestGateway {
            $0.shardCount = 3
            $0.createsRooms = false
        }
        let view = try await gateway.gateway.rooms.open("r", RoomOpening())
        let callers = try (0..<3).map { (shard: Int) in try Caller(gateway, room: "r", identity: "caller \(shard)", shard: shard) }
        #expect(callers.allSatisfy { $0.hello.room == view.room })
        #expect(try await gateway.gateway.rooms.snapshots().map(\.participantCount) == [3])
    }

    @Test func agentsAreDispatched() async throws {
        let dispatch = DispatchInbox()
        let gateway = try TestGateway(dispatch: dispatch, serving: { _, _ in [] })
        let agents = [AgentRequest(assistant: "helper", metadata: "m")]
        _ = try await gateway.gateway.rooms.open("r", RoomOpening(agents: agents))
        for try await message in dispatch.messages {
            guard case .service(.roomOpened(let room, let asked, _)) = message else { continue }
            #expect(room == "r" && asked == agents)
            break
        }
    }

    @Test func openingRacesWithJoins() async throws {
        let gateway = try TestGateway { $0.shardCount = 3 }
        let rooms = gateway.gateway.rooms
        var callers: [Caller] = []
        for number in 0..<30 {
            let name = "room \(number)"
            let openings = (0..<2).map { _ in Task.detached { try await rooms.open(name, RoomOpening()) } }
            callers.append(try Caller(gateway, room: name, identity: "ann", shard: number % 3))
            for opening in openings { #expect(try await opening.value.room.sid == callers.last?.hello.room.sid) }
        }
        #expect(try await rooms.snapshots().count == 30)
        withExtendedLifetime(callers) {}
    }

    /// The directory is asked before the join and the shard after it.
    @Test func shardThatLostTheRaceNamesTheWinner() async throws {
        let gateway = try TestGateway { $0.shardCount = 3 }
        var shards = gateway.gateway.rooms.shards
        shards.homeShard = { _ in nil }
        let rooms = RoomService(shards: shards)
        for shard in 0..<3 {
            let ann = try Caller(gateway, room: "room \(shard)", identity: "ann", shard: shard)
            #expect(try await rooms.open("room \(shard)", RoomOpening()).room.sid == ann.hello.room.sid)
        }
    }

    @Test func endedSessionIsNotOpenedAndItsNameIsFree() async throws {
        let isOver = Atomic(true)
        let queue = AuditEventQueue(joinError: { _, _ in
            isOver.load(ordering: .relaxed) ? HTTPError(.sessionEnded, "it is over") : nil
        })
        let gateway = try TestGateway(auditEvents: queue)
        let rooms = gateway.gateway.rooms
        let error = await #expect(throws: HTTPError.self) { try await rooms.open("session-x", RoomOpening()) }
        #expect(error?.code == .sessionEnded)
        #expect(queue.count == 0 && !rooms.roomIsOpen(named: "session-x"))
        isOver.store(false, ordering: .relaxed)
        for shard in 0..<2 {
            let ann = try Caller(gateway, room: "session-x", identity: "ann", shard: shard)
            #expect(ann.hello.room.name == "session-x")
        }
    }

    @Test func invalidNamesAndMetadataAreRefused() async throws {
        let gateway = try TestGateway()
        let rooms = gateway.gateway.rooms
        func code(_ name: String, _ opening: RoomOpening = RoomOpening()) async -> ErrorCode? {
            await #expect(throws: HTTPError.self) { try await rooms.open(name, opening) }?.code
        }
        #expect(await code("") == .invalidArgument)
        #expect(await code(String(repeating: "r", count: 257)) == .invalidArgument)
        #expect(await code("r", RoomOpening(metadata: String(repeating: "m", count: 524_289))) == .metadataTooLarge)
        #expect(try await rooms.snapshots().isEmpty)
    }

    @Test func drainingGatewayOpensNoRooms() async throws {
        let gateway = try TestGateway { $0.drainTimeout = .seconds(60) }
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        let rooms = gateway.gateway.rooms
        let error = await #expect(throws: HTTPError.self) { try await rooms.open("s", RoomOpening()) }
        #expect(error?.code == .draining && error?.status.code == 503)
        // A request that was admitted just before.
        var shards = rooms.shards
        shards.isDraining = { false }
        let late = RoomService(shards: shards)
        #expect(await #expect(throws: HTTPError.self) { try await late.open("s", RoomOpening()) }?.code == .draining)
        #expect(!rooms.roomIsOpen(named: "s"))
        withExtendedLifetime(ann) {}
    }
}

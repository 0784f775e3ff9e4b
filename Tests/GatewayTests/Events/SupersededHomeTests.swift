import Gateway
import HTTPServer
import Logging
import Store
import Synchronization
import Testing
import Wire

@testable import Backend
@testable import Engine

/// A room's home is cut off, and another node continues the room. Late writes of the old home are refused.
@Suite(.timeLimit(.minutes(1)))
struct SupersededHomeTests {
    private static let ann = ParticipantInfo(
        sid: ParticipantSID(text: "PA_1"), identity: Identity(text: "ann"), name: "", kind: .standard, metadata: "", attributes: [:],
        permission: Permission(), joinedAt: 1_795_000_001, tracks: [])

    private static func said(_ text: String) -> Room.AuditEvent {
        .transcribed(
            Room.TranscribedSegment(segment: TranscriptSegment(id: text, role: .user, text: text, final: true), speaker: .standard))
    }

    @Test func whatTheOldHomeReportsLateIsRefused() async throws {
        try await ClusterOfTwo.run { cluster in
            let (session, room) = try await cluster.startSession()
            let attic = ClusterOfTwo.room("attic")
            try await cluster.old.takeOver(room, 1)
            cluster.old.host(attic, 1)
            try await cluster.old.report([.started, .joined(Self.ann, sessionID: nil), Self.said("before")], in: room)
            try await cluster.old.report([.started], in: attic)

            try await cluster.new.takeOver(room, 2)
            let late = [Self.said("late"), .left(Self.ann, sessionID: nil, .clientInitiated), .finished(.roomClosed)]
            try await cluster.old.report(late, in: room)
            try await cluster.old.report([.finished(.roomClosed)], in: attic)
            #expect(try await cluster.webhooks(of: room) == ["room_started", "participant_joined"])
            #expect(try await cluster.webhooks(of: attic) == ["room_started", "room_finished"])
            #expect(try await cluster.store.sessions.session(session.id, of: cluster.user).endedAt == nil)
            #expect(cluster.old.reports == ["\(room.name) 2"] && cluster.old.refusedCount == 3)

            try await cluster.new.report([Self.said("after")] + late.dropFirst(), in: room)
            #expect(try await cluster.words(of: session) == ["before", "after"])
            let expected = ["room_started", "participant_joined", "participant_left", "room_finished", "session_ended"]
            #expect(try await cluster.webhooks(of: room).filter { $0 != "summary_ready" } == expected)
            #expect(cluster.new.reports == [] && cluster.new.refusedCount == 0)
            #expect(try await cluster.store.webhooks.openAnnouncements().isEmpty)
        }
    }

    @Test func aSessionIsNotEndedThroughItsOldHome() async throws {
        try await ClusterOfTwo.run { cluster in
            let (session, room) = try await cluster.startSession()
            try await cluster.old.takeOver(room, 1)
            try await cluster.new.takeOver(room, 2)
            let error = await #expect(throws: StoreError.superseded(byNumber: 2)) {
                try await cluster.old.sessions.end(session.id, of: cluster.user)
            }
            #expect(error?.httpError.code == .storeBusy, "the client repeats its request, which then reaches the new home")
            #expect(try await cluster.new.sessions.end(session.id, of: cluster.user).endedAt != nil)
            try await cluster.old.report([.finished(.roomClosed)], in: room)
            #expect(try await cluster.webhooks(of: room).filter { $0 != "summary_ready" } == ["session_ended"])
        }
    }

    /// The broker has lost the claim of the other home, so this node keeps the room and raises its epoch.
    @Test func aHomeThatRaisesItsEpochGoesOn() async throws {
        try await ClusterOfTwo.run { cluster in
            let (session, room) = try await cluster.startSession()
            try await cluster.old.takeOver(room, 1)
            try await cluster.new.takeOver(room, 2)
            try await cluster.old.report([Self.said("lost")], in: room)
            #expect(cluster.old.reports == ["\(room.name) 2"])
            cluster.old.host(room, 3)
            try await cluster.old.report([Self.said("kept")], in: room)
            try await cluster.new.report([Self.said("late"), .finished(.roomClosed)], in: room)
            #expect(cluster.new.reports == ["\(room.name) 3"])
            #expect(try await cluster.words(of: session) == ["kept"])
            try await cluster.old.report([.finished(.roomClosed)], in: room)
            #expect(try await cluster.store.sessions.session(session.id, of: cluster.user).endedAt != nil)
        }
    }

    @Test func eventsOfARoomThatANodeDoesNotHostAreRefused() async throws {
        try await ClusterOfTwo.run { cluster in
            let (session, room) = try await cluster.startSession()
            _ = try await cluster.old.recovery.loadSession(of: room.name)
            try await cluster.old.report([.started, Self.said("nobody"), .finished(.roomClosed)], in: room)
            #expect(cluster.old.refusedCount == 3 && cluster.old.reports == [])
            #expect(try await cluster.webhooks(of: room) == [])
            #expect(try await cluster.words(of: session) == [])
            #expect(try await cluster.store.sessions.session(session.id, of: cluster.user).endedAt == nil)
        }
    }

    @Test func aRefusedRoomIsLoggedAndReportedOnceForEachEpoch() {
        let (log, counters) = (RecordedLog(), ServiceCounters())
        let reports = Mutex<[UInt64]>([])
        let rooms = SupersededRooms(counters: counters, log: log.logger("test")) { _, number in reports.withLock { $0.append(number) } }
        let (first, second) = (RoomEpoch(number: 1, claim: 9), RoomEpoch(number: 4, claim: 0))
        for _ in 1...3 { rooms.note("den", first, byNumber: 2) }
        #expect(rooms.contains("den", first) && !rooms.contains("den", second) && !rooms.contains("attic", first))
        rooms.note("den", second, byNumber: 5)
        #expect(reports.withLock { $0 } == [2, 5])
        #expect(log.lines.map(\.level) == [.warning, .warning] && log.lines.allSatisfy { $0["room"] == "den" })
        #expect(counters.samples(of: .roomWritesRefused).map(\.count) == [4])
    }
}

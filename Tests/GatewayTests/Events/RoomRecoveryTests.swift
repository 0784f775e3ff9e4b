import Gateway
import HTTPServer
import Store
import Testing
import Wire

@testable import Backend
@testable import Engine

/// Nodes of a cluster recover what one that has ended left open.
@Suite(.timeLimit(.minutes(1)))
struct RoomRecoveryTests {
    @Test func aStartingNodeLeavesTheRoomsOfOthersAlone() async throws {
        try await ClusterOfTwo.run { cluster in
            let den = ClusterOfTwo.room("den")
            cluster.old.host(den, 1)
            try await cluster.old.report([.started], in: den)
            try await cluster.new.backend.restore()
            #expect(try await cluster.webhooks(of: den) == ["room_started"])
            #expect(try await cluster.new.recovery.openRooms(except: ["old/1", "new/1"]).isEmpty)
        }
    }

    @Test func aRoomThatGoesOnBelongsToItsNewHome() async throws {
        try await ClusterOfTwo.run { cluster in
            let (_, room) = try await cluster.startSession()
            try await cluster.old.takeOver(room, 1)
            try await cluster.old.report([.started], in: room)
            let found = try await cluster.new.recovery.openRooms(except: ["new/1"])
            #expect(found.map(\.content.name) == [room.name] && found.map(\.node) == ["old/1"])
            try await cluster.new.takeOver(found[0].content, 2)
            #expect(try await cluster.new.recovery.openRooms(except: ["new/1"]).isEmpty)
            #expect(cluster.new.backend.sessionRooms.joinError(for: room.name) == nil)
            #expect(try await cluster.webhooks(of: room) == ["room_started"])
        }
    }

    @Test func theEndOfARoomWithoutASnapshotIsAnnouncedOnce() async throws {
        try await ClusterOfTwo.run { cluster in
            let den = ClusterOfTwo.room("den")
            cluster.old.host(den, 1)
            try await cluster.old.report([.started], in: den)
            let found = try await cluster.new.recovery.openRooms(except: ["new/1"])
            cluster.new.host(den, 2)
            for _ in 1...2 { try await cluster.new.recovery.end(found[0]) }
            #expect(try await cluster.webhooks(of: den) == ["room_started", "room_finished"])
            try await cluster.old.report([.finished(.roomClosed)], in: den)
            #expect(try await cluster.webhooks(of: den) == ["room_started", "room_finished"])
            #expect(cluster.old.refusedCount == 1)
        }
    }

    @Test func callsGoOnAtTheNodeThatBecomesTheCoordinator() async throws {
        try await ClusterOfTwo.run { cluster in
            let (ann, ben) = (CallParty.user(Identity(text: cluster.user.text)), CallParty.user(Identity(text: "ben")))
            let call = CallInfo(
                id: CallID(text: "c"), room: "call-c", seq: 1, status: .answered, caller: ann,
                members: [CallMember(party: ann, status: .answered), CallMember(party: ben, status: .answered)])
            let announcement = WebhookWriter(to: [ClusterNode.endpoint], node: "old/1").announcement(
                of: CallRecord(.call(.answered), call), at: .now)
            try await cluster.store.webhooks.announce(announcement, at: .now)
            let service = cluster.new.backend.callService(
                RoomService(shards: ShardControl(count: 0, homeShard: { _ in nil }, isDraining: { false }, send: { _, _ in })),
                keys: KeysInUse(TestToken.keys), server: ServerInfo(version: "tests", node: "new"))
            let serving = Task { try await service.run() }
            let coordinator = ClusterOfTwo.room(RoomHomes.coordinatorRoom)
            cluster.old.host(coordinator, 1)
            cluster.new.host(coordinator, 2)
            try await cluster.new.recovery.continueCalls()
            await #expect(throws: StoreError.self, "the former coordinator stores nothing that the new one has not read") {
                try await cluster.old.backend.auditEvents.performing(coordinator.name) { try await cluster.store.webhooks.raise($0!) }
            }
            let user = cluster.user
            #expect(try await service.calls(of: user).map(\.id) == [call.id])
            _ = try await service.perform(.hangUp(call.id), of: user, host: nil)
            try await cluster.new.backend.auditEvents.performing(RoomHomes.coordinatorRoom) { _ in }
            #expect(
                try await cluster.webhooks(of: ClusterOfTwo.room("call-c"))
                    == ["call_answered", "call_member_left", "call_member_left", "call_completed"])
            try cluster.new.recovery.leaveCalls()
            cluster.new.backend.callInbox.finish()
            try await serving.value
            #expect(await (try? service.calls(of: user)) == nil)
        }
    }

    @Test func aSessionIsLoadedOnceAndOnlyWhileItIsActive() async throws {
        try await ClusterOfTwo.run { cluster in
            let (session, room) = try await cluster.startSession()
            let (node, rooms) = (cluster.new, cluster.new.backend.sessionRooms)
            #expect(rooms.joinError(for: room.name)?.code == .sessionEnded)
            for _ in 1...2 { #expect(try await node.recovery.loadSession(of: room.name)) }
            #expect(rooms.joinError(for: room.name) == nil && rooms.rooms(of: cluster.user) == [room.name])
            #expect(rooms.briefing(of: room.name)?.sessionId == session.id.text)
            #expect(rooms.reporting(of: room.name).reportsText)
            try node.recovery.forgetSession(of: room.name)
            // Not before the room's earlier events are stored.
            try await node.backend.auditEvents.performing(room.name) { _ in }
            #expect(rooms.joinError(for: room.name)?.code == .sessionEnded && rooms.rooms(of: cluster.user) == [])

            #expect(try await node.recovery.loadSession(of: room.name))
            _ = try await cluster.store.sessions.end(session.id, of: cluster.user, at: .now)
            #expect(try await !node.recovery.loadSession(of: room.name))
            #expect(rooms.joinError(for: room.name)?.code == .sessionEnded)
            #expect(try await !node.recovery.loadSession(of: Session.roomName(of: SessionID())))
            #expect(try await node.recovery.loadSession(of: "den"))
        }
    }

    @TaskLocal private static var afterRead: (@Sendable () -> Void)?

    /// The session ends after its row has been read.
    @Test func loadingDoesNotReviveASessionThatEndsMeanwhile() async throws {
        let observe: StoreObserver = { operation, _, _ in
            if operation == .read { Self.afterRead?() }
        }
        try await ClusterOfTwo.run(observing: observe) { cluster in
            let (_, room) = try await cluster.startSession()
            let (node, rooms) = (cluster.new, cluster.new.backend.sessionRooms)
            let isLoaded = try await Self.$afterRead.withValue({ rooms.end(room.name, at: .now) }) {
                try await node.recovery.loadSession(of: room.name)
            }
            #expect(!isLoaded && rooms.joinError(for: room.name)?.code == .sessionEnded)
        }
    }
}

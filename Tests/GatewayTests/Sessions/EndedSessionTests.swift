import Engine
import Foundation
import Gateway
import HTTPServer
import HTTPTypes
import Identity
import Synchronization
import TestStore
import Testing
import Wire

@testable import Backend
@testable import Store

/// No session that has ended is joinable, whatever happens at the same time.
@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct EndedSessionTests {
    private let user = UserID()
    private let rooms = SessionRooms()

    private func session(of user: UserID) -> Session {
        Session(id: SessionID(), userID: user, context: "phone", startedAt: WallTime(milliseconds: 0), loggingEnabledSnapshot: false)
    }

    @Test func sessionThatEndsWhileItIsStartedIsNotAdded() {
        let (session, other) = (session(of: user), session(of: user))
        let start = rooms.beginStart()
        rooms.end(session.roomName, at: .now)
        #expect(!rooms.add(session, start))
        #expect(rooms.add(other, start))
        #expect(rooms.joinError(for: session.roomName)?.code == .sessionEnded && rooms.joinError(for: other.roomName) == nil)
        rooms.finish(start)
    }

    @Test func sessionsThatEndWithTheirUserAreNotAdded() {
        let (bob, start) = (UserID(), rooms.beginStart())
        #expect(rooms.endAll(of: user, at: .now).isEmpty)
        #expect(!rooms.add(session(of: user), start))
        #expect(rooms.add(session(of: bob), start))
        rooms.finish(start)
    }

    @Test func endedSessionIsNotAddedByARepeatedStart() {
        let session = session(of: user)
        let (first, repeated) = (rooms.beginStart(), rooms.beginStart())
        #expect(rooms.add(session, first))
        rooms.finish(first)
        rooms.remove(session.roomName)
        #expect(!rooms.add(session, repeated))
        rooms.finish(repeated)
        #expect(rooms.joinError(for: session.roomName)?.code == .sessionEnded)
    }

    /// The session of this task's start ends once it is written.
    @TaskLocal private static var endsAfterWrite: (@Sendable () -> Void)?

    /// Ends the session between the commit of its start and the moment when `start` learns of it.
    @Test func startDoesNotReviveASessionThatEndsMeanwhile() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "ended-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()]) { operation, _, _ in
            if operation == .write { Self.endsAfterWrite?() }
        }
        let backend = try BackendServices(store: store)
        let shards = ShardControl(count: 0, homeShard: { _ in nil }, isDraining: { false }, send: { _, _ in })
        let sessions = backend.sessionService(RoomService(shards: shards), keys: KeysInUse(TestToken.keys))
        let writer = backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer())
        let writing = Task { try await writer.run() }
        let user = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: .now).id
        let endAll: @Sendable () -> Void = {
            let ended = DispatchSemaphore(value: 0)
            Task.detached {
                defer { ended.signal() }
                for session in try await store.sessions.list(of: user).elements { try await sessions.end(session.id, of: user) }
            }
            ended.wait()
        }
        let error = await #expect(throws: HTTPError.self) {
            try await Self.$endsAfterWrite.withValue(endAll) {
                try await sessions.start(SessionRequest(context: "phone"), of: user, host: "localhost")
            }
        }
        #expect(error?.code == .sessionEnded)
        let room = Session.roomName(of: try #require(try await store.sessions.list(of: user).elements.first).id)
        #expect(backend.sessionRooms.joinError(for: room)?.code == .sessionEnded)
        backend.auditEvents.finish()
        try await writing.value
        try store.close()
    }

    /// The connection was admitted before the session ended, and joins after it.
    @Test func lateJoinOpensNoRoom() async throws {
        let checks = Atomic(0)
        let queue = AuditEventQueue(joinError: { _, _ in
            let isAdmitted = checks.add(1, ordering: .relaxed).newValue == 1
            return isAdmitted ? nil : HTTPError(.sessionEnded, "it is over")
        })
        let gateway = try TestGateway(auditEvents: queue)
        let socket = try gateway.webSocket(.upgrade(token: TestToken.joining("session-x", as: "ann")))
        guard case .close(let code, _) = try socket.next() else { throw DidNotHappen(what: "a close") }
        #expect(code == 4102)
        #expect(queue.count == 0 && !gateway.gateway.rooms.roomIsOpen(named: "session-x"))
    }
}

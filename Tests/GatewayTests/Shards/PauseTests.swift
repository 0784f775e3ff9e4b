import Backend
import Engine
import Foundation
import Gateway
import Testing
import Wire

/// A gateway that stands still for longer than clients may be silent, as a stopped process or a paused virtual machine does.
@Suite(.onOwnThread, .timeLimit(.minutes(2)))
struct PauseTests {
    /// Seconds. More than the silence after which a client is closed (15 s) and than the window to resume below.
    private static let pause = 24.0
    private static let pausingRoom = "pause"

    private let gateway: TestGateway
    private let pauseEnded: DispatchSemaphore

    init() throws {
        let pauseEnded = DispatchSemaphore(value: 0)
        self.pauseEnded = pauseEnded
        // Called on the shard's thread when a room opens.
        let auditEvents = AuditEventQueue(reporting: { room in
            if room == Self.pausingRoom {
                Thread.sleep(forTimeInterval: Self.pause)
                pauseEnded.signal()
            }
            return .events
        })
        gateway = try TestGateway(auditEvents: auditEvents) { settings in
            settings.shardCount = 1
            settings.room.resumeWindow = .seconds(20)
        }
    }

    private func passPause() throws {
        let socket = try RawSocket.secure(port: gateway.port)
        try socket.write(HTTPAsk.upgrade(token: TestToken.joining(Self.pausingRoom, as: "pauser")).bytes)
        try #require(pauseEnded.wait(timeout: .now() + 60) == .success)
    }

    /// They answer pings, but send nothing by themselves, so nothing of theirs arrived during the pause.
    @Test func silentClientsAreProbedAfterAPauseAndNotClosed() throws {
        let silent = try Caller(gateway, room: "r", identity: "silent")
        let lost = try Caller(gateway, room: "r", identity: "lost")
        lost.socket.socket.close()
        try Patience.until("the lost connection") { try gateway.value(.participantsAway) == 1 }
        try passPause()

        let back = try Caller(resuming: lost, on: gateway)
        #expect(back.hello.resumed == true, "the window to resume does not pass during the pause")
        // The gateway checks every client once a second.
        let checked = ContinuousClock.now + .seconds(3)
        while silent.ending == nil, checked > .now { try silent.take(within: checked - .now) }
        #expect(silent.ending == nil, "the client is closed")
        try silent.settle()
        #expect(try gateway.value(.closed(4003)) == 0)
    }
}

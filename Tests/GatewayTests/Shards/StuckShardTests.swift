import Backend
import Engine
import Foundation
import Gateway
import Testing
import Wire

/// A shard whose thread stands still while others go on: its mailbox fills up.
@Suite(.onOwnThread, .timeLimit(.minutes(1)))
struct StuckShardTests {
    private static let stickyRoom = "sticky"

    private let gateway: TestGateway
    private let isStuck: DispatchSemaphore
    private let mayGoOn: DispatchSemaphore

    init() throws {
        let (isStuck, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        (self.isStuck, self.mayGoOn) = (isStuck, mayGoOn)
        // Called on a shard's thread when a room opens there.
        let auditEvents = AuditEventQueue(reporting: { room in
            if room == Self.stickyRoom {
                isStuck.signal()
                mayGoOn.wait()
            }
            return .events
        })
        gateway = try TestGateway(auditEvents: auditEvents) { settings in
            settings.mailboxMessagesMax = 20
            settings.room.resumeWindow = .seconds(30)
        }
    }

    private func stick(shard: Int) throws {
        let socket = try RawSocket.secure(port: gateway.gateway.shardPorts[shard])
        try socket.write(HTTPAsk.upgrade(token: TestToken.joining(Self.stickyRoom, as: "x")).bytes)
        try #require(isStuck.wait(timeout: .now() + 15) == .success)
    }

    @Test func aFullMailboxCostsTheStuckShardItsClientsAndNothingElse() throws {
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: 0)
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: 1)
        let cid = try Caller(gateway, room: "r", identity: "cid", shard: 1)
        let dan = try Caller(gateway, room: "homed on the shard that sticks", identity: "dan", shard: 1)
        let track = try bob.publish()
        _ = try ann.publish()
        cid.socket.socket.close()
        try Patience.until("the lost connection") { try gateway.value(.participantsAway) == 1 }
        defer { mayGoOn.signal() }
        try stick(shard: 1)
        for number in 0..<100 { try ann.ask(.sendText(TextMessage(text: "\(number)"))) }
        let late = try gateway.webSocket(
            .upgrade(token: TestToken.joining("homed on the shard that sticks", as: "late")), shard: 0)
        #expect(try late.ending() == .close(4001, "server shutdown"), "it need not wait for a room that does not answer")
        mayGoOn.signal()

        #expect(try bob.closeCode() == 4001, "it has missed events")
        #expect(try dan.closeCode() == 4001, "its forwarding table may lack changes")
        for who in ["bob", "cid"] {
            _ = try ann.event("the departure of \(who)") { event in
                if case .participantLeft(let identity, _) = event, identity.text == who { true } else { nil }
            }
        }
        let dropped = Counter(name: "patchbay_mailbox_messages_dropped_total")
        try Patience.until("the dropped messages") { try gateway.value(dropped) >= 80 }

        // The shard and the room work as before.
        let again = try Caller(gateway, room: "r", identity: "bob", shard: 1)
        #expect(again.hello.participants.map(\.identity.text) == ["ann"])
        let second = try again.publish()
        #expect(second.sid != track.sid)
        try again.settle()
        try ann.settle()
        try again.say(TestFrame.bytes(second.alias, 0, flags: .talkspurtStart))
        #expect(try ann.frame() == TestFrame.bytes(second.alias, 0, flags: .talkspurtStart))
        try ann.ask(.sendText(TextMessage(text: "back")))
        _ = try again.event("the text") { if case .text(_, _, _, "back") = $0 { true } else { nil } }
    }
}

import Foundation
import Identity
import Synchronization
import Testing
import Wire

@testable import Backend
@testable import Engine

@Suite(.timeLimit(.minutes(1)))
struct CallInboxTests {
    private static let request = CallRequest.ping(1)

    private func makeInbox(devicesMax: Int = 10, requestsMax: Int = 10) throws -> CallInbox {
        var limits = CallInbox.Limits()
        (limits.devicesMax, limits.requestsMax) = (devicesMax, requestsMax)
        return CallInbox(tokens: try UserTokens(key: SealingKey()), limits: limits)
    }

    @Test func messagesOfRoomsAndServicesGoToTheNodeThatServesCalls() async throws {
        let sent = Mutex<[CallServiceMessage]>([])
        let inbox = CallInbox(tokens: try UserTokens(key: SealingKey())) { message in
            guard case .calls(let call) = message else { return .refused }
            sent.withLock { $0.append(call) }
            return .taken
        }
        let message = CallServiceMessage.room(CallID(text: "CA_1"), .ended, isLoss: false)
        #expect(inbox.post(message))
        #expect(sent.withLock { $0 } == [message])
        inbox.finish()
        for await _ in inbox.messages { Issue.record("this node does not serve calls") }
    }

    @Test func changesOfARoomCarryTheEpochOfItsHome() throws {
        let sent = Mutex<[NodeMessage]>([])
        let inbox = CallInbox(tokens: try UserTokens(key: SealingKey())) { message in
            sent.withLock { $0.append(message) }
            return .outdated
        }
        let room = RoomInfo(sid: RoomSID(text: "RM_1"), name: "call-CA_1", metadata: "", createdAt: 1, maxParticipants: 0)
        var event = RoomAuditEvent(.room(.finished(.roomClosed)), room: Room.Snapshot(info: room), at: 1)
        event.epoch = RoomEpoch(number: 3, claim: 4)
        inbox.post(event)
        #expect(sent.withLock { $0.map(\.report) } == [NodeMessage.RoomReport(room: "call-CA_1", epoch: event.epoch!, moment: .ongoing)])
        #expect(inbox.post(.room(CallID(text: "CA_1"), .ended, isLoss: false)), "an outdated message is not refused")
    }

    @Test func callGoesOnWhileItsLostAgentIsReplaced() async throws {
        let agent = Identity(text: "assistant:a")
        let inbox = CallInbox(tokens: try UserTokens(key: SealingKey()), isReplacing: { who, room in who == agent && room == "call-CA_1" })
        inbox.post(.room(CallID(text: "CA_1"), .left(agent), isLoss: true))
        inbox.post(.room(CallID(text: "CA_2"), .left(agent), isLoss: true))
        inbox.finish()
        var calls: [String] = []
        for await message in inbox.messages { if case .service(.room(let call, _, _, _)) = message { calls.append(call.text) } }
        #expect(calls == ["CA_2"])
    }

    private func open(_ inbox: CallInbox, _ name: String) -> Bool {
        let address = ChannelAddress(id: DeviceID(text: name), shard: 0, number: 0, host: nil, expires: 0)
        return inbox.post(.opened(address, .assistant(Identity(text: "assistant:a"))))
    }

    private func isRequest(_ message: CallInbox.Message) -> Bool { if case .request = message { true } else { false } }

    @Test func requestsBeyondTheLimitAreRefusedUntilOneIsHandled() async throws {
        let inbox = try makeInbox(requestsMax: 3)
        let device = DeviceID(text: "d")
        for _ in 0..<3 { #expect(inbox.post(.request(Self.request, id: 1, from: device))) }
        #expect(!inbox.post(.request(Self.request, id: 1, from: device)))
        #expect(inbox.post(.closed(device)), "a closed device is always accepted")
        var messages = inbox.messages.makeAsyncIterator()
        let first = await messages.next(isolation: #isolation)
        #expect(first.map(isRequest) == true)
        #expect(inbox.post(.request(Self.request, id: 2, from: device)))
        #expect(!inbox.post(.request(Self.request, id: 3, from: device)))
        inbox.finish()
        var rest = 0
        while let message = await messages.next(isolation: #isolation) { if isRequest(message) { rest += 1 } }
        #expect(rest == 3, "refused requests are not handled")
    }

    @Test func devicesBeyondTheLimitAreRefusedUntilOneHasClosed() async throws {
        let inbox = try makeInbox(devicesMax: 2)
        #expect(open(inbox, "a") && open(inbox, "b"))
        #expect(!open(inbox, "c"))
        _ = inbox.post(.closed(DeviceID(text: "a")))
        #expect(!open(inbox, "c"), "the close is not handled yet")
        var messages = inbox.messages.makeAsyncIterator()
        for _ in 0..<3 { _ = await messages.next(isolation: #isolation) }
        #expect(open(inbox, "c"))
    }

    @Test func waitingRoomChangesOfOneParticipantAreReplaced() async throws {
        let inbox = try makeInbox()
        let (call, ann) = (CallID(text: "CA_1"), Identity(text: "ann"))
        for _ in 0..<1_000 {
            inbox.post(.room(call, .joined(ann), isLoss: false))
            inbox.post(.room(call, .left(ann), isLoss: true))
        }
        inbox.post(.room(call, .ended, isLoss: false))
        for _ in 0..<10 { inbox.post(.drain) }
        inbox.finish()
        var changes: [CallRoomChange] = []
        var drains = 0
        for await message in inbox.messages {
            switch message {
            case .service(.room(_, let change, _, _)): changes.append(change)
            case .drain: drains += 1
            default: Issue.record("an unexpected message")
            }
        }
        #expect(changes.count == 2 && drains == 1)
        guard case .left? = changes.first, case .ended? = changes.last else {
            Issue.record("the newest change must win: \(changes)")
            return
        }
    }
}

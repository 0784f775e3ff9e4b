import Backend
import Foundation
import Identity
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct CallInboxTests {
    private static let request = CallRequest.ping(1)

    private func makeInbox(devicesMax: Int = 10, requestsMax: Int = 10) throws -> CallInbox {
        var limits = CallInbox.Limits()
        (limits.devicesMax, limits.requestsMax) = (devicesMax, requestsMax)
        return CallInbox(tokens: try UserTokens(key: SealingKey()), limits: limits)
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
            inbox.post(.room(call, .joined(ann)))
            inbox.post(.room(call, .left(ann)))
        }
        inbox.post(.room(call, .ended))
        for _ in 0..<10 { inbox.post(.drain) }
        inbox.finish()
        var changes: [CallRoomChange] = []
        var drains = 0
        for await message in inbox.messages {
            switch message {
            case .room(_, let change): changes.append(change)
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

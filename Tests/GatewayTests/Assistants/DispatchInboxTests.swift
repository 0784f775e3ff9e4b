import Backend
import Engine
import Testing
import Wire

struct DispatchInboxTests {
    private func makeInbox() -> DispatchInbox {
        var limits = DispatchInbox.Limits()
        (limits.devicesMax, limits.requestsMax, limits.changesMax) = (2, 2, 3)
        return DispatchInbox(limits: limits)
    }

    private func open(_ inbox: DispatchInbox, _ name: String) -> Bool {
        let address = ChannelAddress(id: DeviceID(text: name), shard: 0, number: 0, host: nil, expires: 0)
        return inbox.post(.opened(address, assistant: Identity(text: "assistant:a")))
    }

    @Test func channelsAndRequestsBeyondTheLimitAreRefused() async {
        let inbox = makeInbox()
        #expect(open(inbox, "a") && open(inbox, "b") && !open(inbox, "c"))
        let request = DispatchInbox.Message.request(.accept(JobID(text: "JB_1")), id: 1, from: DeviceID(text: "a"))
        #expect(inbox.post(request) && inbox.post(request) && !inbox.post(request))
        #expect(inbox.post(.closed(DeviceID(text: "a"))), "a closed channel is always accepted")
        #expect(inbox.counters.lost == 0, "whoever was refused learns it")
        var messages = inbox.messages.makeAsyncIterator()
        for _ in 0..<5 { _ = await messages.next(isolation: #isolation) }
        #expect(open(inbox, "c") && inbox.post(request))
    }

    @Test func changesBeyondTheLimitAreDroppedAndCounted() {
        let inbox = makeInbox()
        for _ in 0..<5 { inbox.post(.roomEnded("r")) }
        for _ in 0..<3 { inbox.post(.create(JobRequest(room: "r", assistant: "a", reason: .session))) }
        #expect(inbox.counters.lost == 3)
        #expect(inbox.post(.drain) && !inbox.post(.drain))
    }
}

extension DispatchInbox {
    fileprivate var counters: DispatchRegistry.Counters { registry.counters }
}

import Testing
import Wire

/// Deferred events leave with the next message to the same socket, or soon by themselves; no message overtakes them.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct DepartureTests {
    let gateway: TestGateway
    private let speaker: Caller
    private let listener: Caller
    private let alias: TrackAlias

    init() throws {
        gateway = try TestGateway()
        // One shard: messages from another shard are sent in a turn of their own.
        speaker = try Caller(gateway, room: "r", identity: "speaker", shard: 0)
        listener = try Caller(gateway, room: "r", identity: "listener", shard: 0)
        alias = try speaker.publish().alias
        try listener.settle()
    }

    private func startOfTalk(_ event: Event) -> MediaTime? {
        if case .talkStarted(_, _, let time) = event { time } else { nil }
    }

    @Test func deferredEventLeavesByItself() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        _ = try speaker.event("who talks", within: .seconds(2), startOfTalk)
        #expect(speaker.frames.isEmpty)
    }

    @Test func replyDoesNotOvertakeADeferredEvent() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        try speaker.settle()
        #expect(speaker.events.contains { startOfTalk($0) != nil })
    }

    @Test func talkStartedLeavesWithTheFirstFrame() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        #expect(try listener.frame() == TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        // Both left in one system call, so there is nothing to wait for.
        _ = try listener.event("who talks", within: .zero, startOfTalk)
    }

    @Test func deferredEventsAreFlushedBeforeAClose() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        try speaker.socket.send(text: String(decoding: OutgoingRequest(.leave(reason: nil)).bytes, as: UTF8.self))
        _ = try speaker.event("who talks", within: .seconds(2), startOfTalk)
    }
}

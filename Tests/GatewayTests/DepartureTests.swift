import Testing
import Wire

/// What only tells how things are leaves with what goes to the same socket next, or soon by itself; nothing overtakes it.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct DepartureTests {
    let gateway: TestGateway
    private let speaker: Caller
    private let listener: Caller
    private let alias: TrackAlias

    init() throws {
        gateway = try TestGateway()
        // On one shard: what comes from another one comes in a turn of its own.
        speaker = try Caller(gateway, room: "r", identity: "speaker", shard: 0)
        listener = try Caller(gateway, room: "r", identity: "listener", shard: 0)
        alias = try speaker.publish().alias
        try listener.settle()
    }

    private func startOfTalk(_ event: Event) -> MediaTime? {
        if case .talkStarted(_, _, let time) = event { time } else { nil }
    }

    @Test func itComesThoughNothingElseDoes() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        _ = try speaker.event("who talks", within: .seconds(2), startOfTalk)
        #expect(speaker.frames.isEmpty)
    }

    @Test func anAnswerDoesNotOvertakeIt() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        try speaker.settle()
        #expect(speaker.events.contains { startOfTalk($0) != nil })
    }

    @Test func whoHearsTheFirstFrameIsToldWithIt() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        #expect(try listener.frame() == TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        // One system call brought both, so that nothing is to be waited for.
        _ = try listener.event("who talks", within: .zero, startOfTalk)
    }

    @Test func nothingOfItIsLostInAClose() throws {
        try speaker.say(TestFrame.bytes(alias, 0, flags: .talkspurtStart))
        try speaker.socket.send(text: String(decoding: OutgoingRequest(.leave(reason: nil)).bytes, as: UTF8.self))
        _ = try speaker.event("who talks", within: .seconds(2), startOfTalk)
    }
}

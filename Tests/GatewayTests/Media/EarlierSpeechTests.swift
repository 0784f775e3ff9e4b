import Backend
import Engine
import Gateway
import Identity
import Synchronization
import Testing
import Wire

/// What users say before an assistant is there, over TLS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct EarlierSpeechTests {
    private static let agent = "assistant:helper"
    private let rooms: RoomService
    private let gateway: TestGateway

    init() throws {
        let found = Mutex<RoomService?>(nil)
        gateway = try TestGateway(
            serving: { rooms, _ in
                found.withLock { $0 = rooms }
                return []
            }, { $0.shardCount = 3 })
        rooms = try #require(found.withLock { $0 })
    }

    private func join(_ identity: String, onShard shard: Int, _ room: String, path: String = "/v1/rtc") throws -> Caller {
        try Caller(gateway, room: room, identity: identity, path: path, shard: shard) {
            if identity == Self.agent { $0.kind = .agent }
        }
    }

    /// A job waits for its agent from now on, or does not any more.
    private func expect(_ isExpected: Bool, in room: String, _ tracks: Double) throws {
        rooms.send(.agentExpected(Identity(text: Self.agent), isExpected), to: room)
        try kept(tracks)
    }

    /// Waits until the speech of that many tracks is kept.
    private func kept(_ tracks: Double) throws {
        try Patience.until("\(tracks) kept tracks") { try gateway.value(Counter(name: "patchbay_earlier_tracks")) == tracks }
    }

    private func frames(_ outcome: String) throws -> Double {
        try gateway.value(Counter(name: "patchbay_earlier_frames_total", labels: ["outcome": outcome]))
    }

    private static func sequences(_ caller: Caller) -> [Int] { caller.frames.map { TestFrame.sequence(of: $0.bytes) } }

    /// Shards of the user and the agent; the room's home is the user's.
    @Test(arguments: [(0, 0), (0, 1), (2, 1)])
    func agentGetsEachFrameOnceInOrderHoweverLateItComes(shards: (Int, Int)) throws {
        for round in 0..<5 {
            let room = "room \(round)"
            let ann = try join("ann", onShard: shards.0, room)
            let bystander = try join("bob", onShard: shards.1, room)
            let track = try ann.publish()
            try expect(true, in: room, 1)
            for number in 0..<40 { try ann.say(TestFrame.bytes(track.alias, number)) }
            try ann.settle()
            let agent = try join(Self.agent, onShard: shards.1, room)
            // They go on talking while the agent is welcomed.
            for number in 40..<90 { try ann.say(TestFrame.bytes(track.alias, number)) }
            try agent.take(until: "90 frames") { $0.frames.count >= 90 }
            try bystander.take(until: "90 frames") { $0.frames.count >= 90 }
            for caller in [ann, agent, bystander] { try caller.settle() }
            #expect(agent.frames.map(\.bytes) == (0..<90).map { TestFrame.bytes(track.alias, $0) })
            #expect(bystander.frames.map(\.bytes) == (0..<90).map { TestFrame.bytes(track.alias, $0) }, "live frames only")
            let (start, live) = try agent.event("talk.earlier") { event in
                if case .talkEarlier(let who, track.sid, let start, let live) = event, who == ann.hello.participant.identity {
                    (start, live)
                } else {
                    nil
                }
            }
            #expect(start == MediaTime(ticks: 0) && live.ticks >= 40 * 960 && live.ticks <= 90 * 960)
            #expect(!bystander.events.contains { if case .talkEarlier = $0 { true } else { false } })
            try kept(0)
        }
    }

    @Test func onlyTheLastFiveSecondsAreKept() throws {
        let ann = try join("ann", onShard: 0, "r")
        let track = try ann.publish(PublishTrack(frameMs: 60))
        try expect(true, in: "r", 1)
        for number in 0..<95 { try ann.say(TestFrame.bytes(track.alias, number)) }
        try ann.settle()
        let agent = try join(Self.agent, onShard: 1, "r")
        // 5 s are 83 frames of 60 ms.
        try agent.take(until: "83 frames") { $0.frames.count >= 83 }
        try agent.settle()
        #expect(Self.sequences(agent) == Array(12..<95))
        for (outcome, count) in ["kept": 95, "sent": 83, "replaced": 12, "discarded": 0] as [String: Double] {
            #expect(try frames(outcome) == count, "\(outcome)")
        }
    }

    @Test func nothingIsKeptWithoutAJobOrAfterItsEnd() throws {
        let ann = try join("ann", onShard: 0, "r")
        let track = try ann.publish()
        for number in 0..<10 { try ann.say(TestFrame.bytes(track.alias, number)) }
        try ann.settle()
        try expect(true, in: "r", 1)
        for number in 10..<20 { try ann.say(TestFrame.bytes(track.alias, number)) }
        try ann.settle()
        try expect(false, in: "r", 0)
        let agent = try join(Self.agent, onShard: 1, "r")
        try ann.say(TestFrame.bytes(track.alias, 20))
        #expect(try agent.frame() == TestFrame.bytes(track.alias, 20))
        #expect(try frames("kept") == 10)
        #expect(try frames("discarded") == 10)
    }

    @Test func mutedSpeechIsNotKeptAndTheTracksEndDropsIt() throws {
        let ann = try join("ann", onShard: 1, "r")
        let track = try ann.publish()
        try expect(true, in: "r", 1)
        try ann.say(TestFrame.bytes(track.alias, 0))
        try ann.ask(.mute(track.sid, muted: true))
        try ann.say(TestFrame.bytes(track.alias, 1))
        try ann.ask(.mute(track.sid, muted: false))
        try ann.say(TestFrame.bytes(track.alias, 2))
        try ann.settle()
        #expect(try frames("kept") == 2)
        try ann.ask(.unpublish(track.sid))
        try kept(0)
        let agent = try join(Self.agent, onShard: 0, "r")
        try agent.settle()
        #expect(agent.frames.isEmpty)
    }

    @Test func agentThatChoosesItsTracksGetsItAfterTheReply() throws {
        let ann = try join("ann", onShard: 0, "r")
        let track = try ann.publish()
        try expect(true, in: "r", 1)
        for number in 0..<10 { try ann.say(TestFrame.bytes(track.alias, number)) }
        try ann.settle()
        let agent = try join(Self.agent, onShard: 2, "r", path: "/v1/rtc?auto_subscribe=false")
        try agent.settle()
        #expect(agent.frames.isEmpty)
        try agent.ask(.subscribe(track.sid, subscribed: true))
        try agent.take(until: "10 frames") { $0.frames.count >= 10 }
        #expect(Self.sequences(agent) == Array(0..<10))
    }
}

import PatchbayClient
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// An assistant's room of a real gateway whose connection is lost and resumed.
@Suite(.timeLimit(.minutes(5)))
struct ReconnectedRoomTests {
    /// 20 ms of silence.
    private static let packet: [UInt8] = [0xF8, 0xFF, 0xFE]
    private static let level = AudioLevelByte(voice: false, level: 60)

    private final class Witness: Sendable {
        struct State {
            var timestamps: [MediaTime] = []
            var hasLoss = false
        }

        private let state = Mutex(State())
        var current: State { state.withLock { $0 } }

        func take(_ event: AgentRoomEvent) {
            state.withLock { state in
                switch event {
                case .frame(_, let frame): state.timestamps.append(frame.header.timestamp)
                case .resumedWithLoss: state.hasLoss = true
                default: break
                }
            }
        }
    }

    /// Runs an assistant's room in which Ann has a microphone.
    private func run(
        _ body: @Sendable (_ assistant: RoomConnection, JoinedRoom, _ ann: RoomConnection, LocalTrack, Witness) async throws -> Void
    ) async throws {
        try await WorkerGateway.run { node in
            let assistant = try await node.join("assistant")
            let ann = try await node.join("ann")
            let microphone = try await ann.publish(name: "microphone")
            let room = try await JoinedRoom(assistant)
            let witness = Witness()
            let following = Task { await room.follow { witness.take($0) } }
            try await body(assistant, room, ann, microphone, witness)
            await assistant.leave()
            await following.value
            await ann.leave()
        }
    }

    @Test func eachFrameIsHeardOnce() async throws {
        try await run { assistant, _, _, microphone, witness in
            for round in 1...3 {
                for _ in 0..<10 { try microphone.send(Self.packet, level: Self.level) }
                try await eventually("\(round * 10) frames") { witness.current.timestamps.count >= round * 10 }
                assistant.dropConnection()
                try await eventually("a reconnect") { assistant.statistics.reconnects == UInt64(round) }
            }
            try microphone.send(Self.packet, level: Self.level)
            try await eventually("the last frame") { witness.current.timestamps.count > 30 }
            let heard = witness.current.timestamps
            #expect(Set(heard).count == heard.count, "\(heard.count) frames with \(Set(heard).count) timestamps")
        }
    }

    @Test func whatIsLostWithAConnectionIsReported() async throws {
        try await run { assistant, room, ann, _, witness in
            assistant.dropConnection()
            // Until the session is resumed, everything is lost.
            while assistant.statistics.framesUnsent == 0, assistant.statistics.reconnects == 0 {
                try room.speak(SpokenFrame(packet: Self.packet, ticks: 960, level: Self.level), at: MediaTime(ticks: 960))
                await Task.yield()
            }
            room.send(AssistantMessage.toolStarted(id: "t", name: "find"))
            try await eventually("a report") { witness.current.hasLoss || assistant.statistics.framesUnsent == 0 }
            // Messages wait for the next connection.
            let found = try await ann.first { if case .gateway(.data(_, let topic, _), _) = $0 { topic } else { nil } }
            #expect(found == AssistantMessage.topic)
        }
    }
}

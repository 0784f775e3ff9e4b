import PatchbayAgents
import PatchbayClient
import Synchronization
import Testing
import Wire

/// A user speaks while the assistant that was asked for has no worker yet.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EarlierSpeechTests {
    private static func say(_ number: Int, on microphone: LocalTrack) throws {
        let time = MediaTime(ticks: UInt32(number * 960))
        try microphone.send([0xf8, 0xff, UInt8(number)], timing: .at(time), level: AudioLevelByte(voice: true, level: 30))
    }

    @Test(arguments: [1, 3]) func agentOfALateWorkerHearsWhatWasSaidBefore(shardCount: Int) async throws {
        try await WorkerGateway.run(shardCount: shardCount) { node in
            let ann = try await node.join("ann")
            try await node.administrator().dispatch("helper", to: "room")
            _ = try await ann.first { if case .gateway(.agentWaiting, _) = $0 { true } else { nil } }
            let microphone = try await ann.publish()
            for number in 0..<60 { try Self.say(number, on: microphone) }
            try await eventually("60 sent frames") { ann.statistics.framesSent == 60 }

            let heard = Mutex<[ReceivedFrame]>([])
            let worker = TestWorker(node) { job in
                let room = try await job.connect()
                let track = try #require(room.hello.participants.first?.tracks?.first)
                for await frame in room.frames(of: track.sid) { heard.withLock { $0.append(frame) } }
                await room.leave()
            }
            try await eventually("60 earlier frames") { heard.withLock { $0.count } >= 60 }
            for number in 60..<70 { try Self.say(number, on: microphone) }
            try await eventually("70 frames") { heard.withLock { $0.count } >= 70 }
            let frames = heard.withLock { $0 }
            #expect(frames.map { $0.packet.last.map(Int.init) } == Array(0..<70))
            #expect(frames.map(\.isEarlier) == (0..<70).map { $0 < 60 })
            try await worker.stop()
        }
    }
}

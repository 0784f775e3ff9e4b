import Engine
import Foundation
import Gateway
import Testing
import Wire

/// Events that describe the past to a client that joins are paced by its connection, and are no sign of a slow consumer.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct JoinReplayTests {
    private static let segmentBytes = 8_000
    private let gateway: TestGateway

    // Only agents publish transcripts, and an agent does not keep a room open after its last user has been disconnected.
    init() throws { gateway = try TestGateway { $0.room.departureTimeout = .seconds(60) } }

    @Test(arguments: [0, 1])
    func slowClientReceivesTheWholeTranscriptOnJoin(shard: Int) throws {
        let ann = try gateway.join("ann")
        let identifiers = try fillTranscript(by: ann)
        let slow = try Caller(
            gateway, room: "r", identity: "slow", receiveBuffer: 16 * 1_024, segmentBytes: 1_400, shard: shard)
        // A live event, which comes after the replay.
        try ann.ask(.sendData(DataMessage(topic: "live", payload: .text("after the replay"))))
        Thread.sleep(forTimeInterval: 0.5)
        try slow.take(until: "the live event") { $0.events.contains { if case .data = $0 { true } else { false } } }
        let received = slow.events.compactMap { event -> String? in
            switch event {
            case .segment(let segment): segment.id
            case .data: "live"
            default: nil
            }
        }
        #expect(received == identifiers + ["live"])
        #expect(slow.ending == nil)
        try slow.settle()
        #expect(try gateway.value(.closed(4002)) == 0)
    }

    @Test func backlogOfLiveEventsBehindAReplayClosesASlowConsumer() throws {
        let ann = try gateway.join("ann")
        _ = try fillTranscript(by: ann)
        let slow = try Caller(gateway, room: "r", identity: "slow", receiveBuffer: 16 * 1_024, segmentBytes: 1_400)
        let payload = String(repeating: "a", count: 60_000)
        var count = 0
        while try gateway.value(.closed(4002)) == 0, count < 40 {
            try ann.ask(.sendData(DataMessage(topic: "t", payload: .text(payload))))
            count += 1
        }
        // Read at once, because the close frame waits behind the backlog for at most 4 s.
        #expect(try slow.closeCode() == 4002)
    }

    private func fillTranscript(by publisher: Caller) throws -> [String] {
        let text = String(repeating: "a", count: Self.segmentBytes)
        let identifiers = (0..<Limits.segmentsKeptMax).map { "segment \($0)" }
        for id in identifiers { try publisher.ask(.segment(TranscriptSegment(id: id, role: .user, text: text, final: true))) }
        return identifiers
    }
}

/// The lanes of an outbox.
struct ReplayLaneTests {
    private let event = EncodedEvent(.callEnded(reason: "test"))

    // An outbox cannot be copied, so what it returns is taken out of the expectations.

    @Test func replayPrecedesControlAndKeepsItsOrder() {
        var outbox = Outbox()
        let isBelowLimit = [outbox.append(control: [1]), outbox.append(replay: event, seq: 1), outbox.append(replay: event, seq: 2)]
        #expect(isBelowLimit == [true, true, true])
        let messages = [outbox.next(allowsFrame: true), outbox.next(allowsFrame: true), outbox.next(allowsFrame: true)]
        #expect(messages == [.control(event.bytes(seq: 1)), .control(event.bytes(seq: 2)), .control([1])])
        let (isEmpty, replayBytes) = (outbox.isEmpty, outbox.replayBytes)
        #expect(isEmpty)
        #expect(replayBytes == 0)
    }

    @Test func replayDoesNotCountAsBacklogButIsBounded() {
        var outbox = Outbox()
        let large = EncodedEvent(.callEnded(reason: String(repeating: "a", count: 1 << 20)))
        let replayed = (0..<4).map { outbox.append(replay: large, seq: $0) }
        #expect(replayed == [true, true, true, true])
        let isBelowBacklog = outbox.append(control: [1])
        #expect(isBelowBacklog)
        let isBelowLimit = outbox.append(replay: large, seq: 4)
        #expect(!isBelowLimit)
    }
}

import Backend
import Gateway
import Testing
import Wire

@testable import Engine

@Suite(.timeLimit(.minutes(1)))
struct AuditEventQueueTests {
    private static func event(_ number: Int64, room name: String = "r", text: String? = nil) -> RoomAuditEvent {
        let info = RoomInfo(sid: RoomSID(text: "RM_1"), name: name, metadata: "", createdAt: 0, maxParticipants: 0)
        let room = Room.Snapshot(info: info)
        guard let text else { return RoomAuditEvent(.room(.started), room: room, at: number) }
        let said = Room.TranscribedSegment(segment: TranscriptSegment(id: "s", role: .user, text: text), speaker: .standard)
        return RoomAuditEvent(.room(.transcribed(said)), room: room, at: number)
    }

    private static func numbers(_ items: [AuditEventQueue.Item]?) -> [Int64] {
        (items ?? []).map { if case .event(let event) = $0 { event.at } else { -1 } }
    }

    @Test func eventsArriveInOrderAndInBatches() async {
        let queue = AuditEventQueue()
        for number in 0..<5 { queue.append(Self.event(Int64(number))) }
        #expect(Self.numbers(await queue.next(upTo: 3)) == [0, 1, 2])
        #expect(Self.numbers(await queue.next(upTo: 3)) == [3, 4])
    }

    @Test func waitingReaderIsResumed() async {
        let queue = AuditEventQueue()
        async let items = queue.next(upTo: 10)
        try? await Task.sleep(for: .milliseconds(20))
        queue.append(Self.event(7))
        #expect(Self.numbers(await items) == [7])
    }

    @Test func droppedEventsAreReportedInTheirPosition() async {
        let queue = AuditEventQueue(countMax: 2)
        let outcomes = (0..<5).map { queue.append(Self.event(Int64($0), room: "r\($0)")) }
        #expect(outcomes == [.taken, .taken, .refused(isFirst: true), .refused(isFirst: false), .refused(isFirst: false)])
        #expect(Self.numbers(await queue.next(upTo: 1)) == [0])
        queue.append(Self.event(5))
        let rest = await queue.next(upTo: 10)
        #expect(Self.numbers(rest) == [1, -1, 5])
        #expect(rest?[1] == .missing(count: 3, rooms: ["r2", "r3", "r4"]))
    }

    @Test func eventsDroppedAtTheEndAreReported() async {
        let queue = AuditEventQueue(countMax: 1)
        queue.append(Self.event(0))
        queue.append(Self.event(1))
        #expect(Self.numbers(await queue.next(upTo: 1)) == [0])
        #expect(await queue.next(upTo: 1) == [.missing(count: 1, rooms: ["r"])])
    }

    @Test func textsAreLimitedByBytes() {
        let queue = AuditEventQueue(bytesMax: 100)
        #expect(queue.append(Self.event(0, text: String(repeating: "x", count: 90))) == .taken)
        #expect(queue.append(Self.event(1, text: String(repeating: "x", count: 90))) == .refused(isFirst: true))
        #expect(queue.append(Self.event(2)) == .taken)
    }

    @Test func queuedEventsCanBeReadAfterFinish() async {
        let queue = AuditEventQueue()
        queue.append(Self.event(0))
        queue.finish()
        #expect(Self.numbers(await queue.next(upTo: 5)) == [0])
        #expect(await queue.next(upTo: 5) == nil)
    }

    @Test func cancelledReaderReturns() async {
        let queue = AuditEventQueue()
        let task = Task { await queue.next(upTo: 1) }
        task.cancel()
        #expect(await task.value == nil)
        queue.append(Self.event(0))
        #expect(queue.count == 1, "nothing is taken by whoever has gone")
    }
}

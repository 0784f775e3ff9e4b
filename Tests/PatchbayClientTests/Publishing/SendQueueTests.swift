import Testing

@testable import PatchbayClient

struct SendQueueTests {
    @Test func oldestFrameIsDroppedFirst() {
        var queue = SendQueue(limit: 3)
        let dropped = (1...5).map { queue.append([UInt8($0)]) }
        #expect(dropped == [0, 0, 0, 1, 1])
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()] == [[3], [4], [5], nil])
        #expect(queue.isEmpty)
    }

    @Test func memoryStaysBounded() {
        var queue = SendQueue(limit: 4)
        for round in 0..<1_000 {
            _ = queue.append([UInt8(truncatingIfNeeded: round)])
            _ = queue.append([UInt8(truncatingIfNeeded: round + 1)])
            #expect(queue.popFirst() != nil)
            #expect(queue.count <= 4)
        }
        #expect(queue.removeAll() == queue.count + 3)
    }

    @Test func removalKeepsTheOrder() {
        var queue = SendQueue(limit: 9)
        for number in 0..<6 as Range<UInt8> { _ = queue.append([number]) }
        _ = queue.popFirst()
        #expect(queue.removeAll { $0[0] % 2 == 1 } == 3)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == [[2], [4], nil])
    }
}

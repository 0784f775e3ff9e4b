import Testing
import Wire

@testable import PatchbayClient

struct PendingRequestsTests {
    private var pending = PendingRequests<String>()

    @Test mutating func eachReplyFindsItsRequestOnce() {
        let first = pending.add("first", deadline: .milliseconds(10))
        let second = pending.add("second", deadline: .milliseconds(20))
        #expect(first != second)
        #expect(pending.take(second) == "second")
        #expect(pending.take(second) == nil)
        #expect(pending.take(first) == "first")
        #expect(pending.take(99) == nil)
    }

    @Test mutating func expiredRequestsAreTakenOldestFirst() {
        _ = pending.add("late", deadline: .milliseconds(30))
        let answered = pending.add("answered", deadline: .milliseconds(10))
        _ = pending.add("a", deadline: .milliseconds(20))
        _ = pending.add("b", deadline: .milliseconds(10))
        _ = pending.take(answered)
        #expect(pending.deadline == .milliseconds(10))
        #expect(pending.takeExpired(at: .milliseconds(20)) == ["a", "b"])
        #expect(pending.deadline == .milliseconds(30))
        #expect(pending.takeAll() == ["late"])
        #expect(pending.deadline == nil)
        #expect(pending.count == 0)
    }
}

import Testing

@testable import Store

struct NodeWatchTests {
    private let start = ContinuousClock.now
    private let quiet = NodeID()
    private let lively = NodeID()

    /// Observes both nodes every two seconds until `end` seconds; only one of them beats.
    private func observe(_ watch: inout NodeWatch, from begin: Int = 0, to end: Int) -> [NodeID] {
        stride(from: begin, through: end, by: 2).reduce([]) { _, second in
            watch.observe([quiet: 5, lively: Int64(second)], at: start + .seconds(second))
        }
    }

    @Test func aNodeThatDoesNotBeatForTenSecondsHasEnded() {
        var watch = NodeWatch()
        #expect(observe(&watch, to: 8) == [])
        #expect(observe(&watch, from: 10, to: 10) == [quiet])
    }

    @Test func aBeatBeginsTheSilenceAnew() {
        var watch = NodeWatch()
        #expect(observe(&watch, to: 8) == [])
        #expect(watch.observe([quiet: 6, lively: 9], at: start + .seconds(9)) == [])
        #expect(watch.observe([quiet: 6, lively: 13], at: start + .seconds(13)) == [])
        #expect(watch.observe([quiet: 6, lively: 17], at: start + .seconds(17)) == [])
        #expect(watch.observe([quiet: 6, lively: 19], at: start + .seconds(19)) == [quiet])
    }

    /// All of them may have stood still with the database.
    @Test func nobodyEndsWhileNobodyIsObserved() {
        var watch = NodeWatch()
        #expect(observe(&watch, to: 4) == [])
        let both: [NodeID: Int64] = [quiet: 5, lively: 4]
        #expect(watch.observe(both, at: start + .seconds(34)) == [])
        #expect(observe(&watch, from: 36, to: 42) == [])
        #expect(observe(&watch, from: 44, to: 44) == [quiet])
    }

    @Test func aNodeThatLeavesAndReturnsIsSeenAnew() {
        var watch = NodeWatch()
        #expect(observe(&watch, to: 8) == [])
        #expect(watch.observe([lively: 9], at: start + .seconds(9)) == [])
        #expect(watch.observe([quiet: 5, lively: 10], at: start + .seconds(10)) == [])
    }

    @Test func aProcessIsRecognizedByMoreThanItsNumber() throws {
        let own = ProcessIdentity.current
        let read = try #require(ProcessIdentity(text: own.text))
        #expect(read == own && !read.isGone)
        let parts = own.text.split(separator: " ")
        func with(_ index: Int, _ part: String) throws -> ProcessIdentity {
            var parts = parts.map(String.init)
            parts[index] = part
            return try #require(ProcessIdentity(text: parts.joined(separator: " ")))
        }
        #expect(try with(3, "1").isGone, "another process had the number before")
        #expect(try with(1, "4194303").isGone, "no process has this number")
        #expect(try !with(2, "elsewhere").isGone, "nothing is known of another machine")
        #expect(ProcessIdentity(text: "of a later version") == nil)
    }
}

import Engine
import Testing
import Wire

struct SendBudgetTests {
    @Test func theKernelIsAskedOnlyWhenTheBudgetMayBeUsedUp() {
        var budget = SendBudget()
        var asks = 0
        for number in 0..<1_000 {
            if budget.verdict == .ask {
                asks += 1
                budget.observe(unacknowledged: 0, roundTrip: .zero, at: .at(number * 20))
            }
            budget.wrote(116)
        }
        #expect(asks < 70, "asked \(asks) times for 1,000 frames")
    }

    @Test func aPathThatTakesNothingStopsMedia() {
        var budget = SendBudget()
        var onTheWay = 0
        for number in 0..<200 {
            if budget.verdict == .ask { budget.observe(unacknowledged: onTheWay, roundTrip: .milliseconds(10), at: .at(number * 20)) }
            guard budget.hasRoom else { continue }
            budget.wrote(116)
            onTheWay += 116
        }
        #expect(onTheWay <= SendBudget.bytesMin + 116)
    }

    @Test func aLongPathHasABiggerBudget() {
        var near = SendBudget()
        var far = SendBudget()
        for number in 0..<200 {
            near.wrote(400)
            far.wrote(400)
            near.observe(unacknowledged: 0, roundTrip: .milliseconds(2), at: .at(number * 20))
            far.observe(unacknowledged: 0, roundTrip: .milliseconds(200), at: .at(number * 20))
        }
        near.wrote(8_000)
        far.wrote(8_000)
        #expect(!near.hasRoom)
        #expect(far.hasRoom)
    }

    /// Three talk at once on a path of a quarter of a second, and the shard looks every 10 ms while something waits.
    @Test func aListenerFarAwayHearsAllWhoTalk() {
        var budget = SendBudget()
        var waiting: [Int] = []
        var acknowledgements: [(at: Int, bytes: Int)] = []
        var longestWait = 0
        for time in stride(from: 0, to: 5_000, by: 10) {
            if time % 20 == 0 { waiting += [time, time, time] }
            acknowledgements.removeAll { $0.at <= time }
            while let since = waiting.first {
                if budget.verdict == .ask {
                    let unacknowledged = acknowledgements.reduce(0) { $0 + $1.bytes }
                    budget.observe(unacknowledged: unacknowledged, roundTrip: .milliseconds(250), at: .at(time))
                }
                guard budget.hasRoom else { break }
                waiting.removeFirst()
                budget.wrote(140)
                acknowledgements.append((time + 250, 140))
                if time > 2_000 { longestWait = max(longestWait, time - since) }
            }
        }
        #expect(longestWait < 200, "frames wait \(longestWait) ms, until they are too old")
    }
}

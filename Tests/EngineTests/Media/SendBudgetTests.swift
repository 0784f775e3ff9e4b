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
}

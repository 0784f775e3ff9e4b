import Backend
import Testing
import Wire

struct RefusalBudgetTests {
    private let start = Instant(nanoseconds: 10_000_000_000)

    @Test func oneAddressCannotHideTheRefusalsOfOthers() {
        var budget = RefusalBudget()
        let logged = (0..<1_000).filter { _ in budget.admits("attacker", at: start) }
        #expect(logged.count == RefusalBudget.perAddressMax)
        #expect(budget.admits("customer", at: start) == true)
    }

    @Test func manyAddressesTogetherAreLimitedPerSecond() {
        var budget = RefusalBudget()
        let logged = (0..<1_000).filter { budget.admits("address \($0)", at: start) }
        #expect(logged.count == RefusalBudget.perSecondMax)
        #expect(budget.admits("address 0", at: start + .seconds(1)) == true)
    }

    @Test func theCountIsToldOnceAndOnlyAfterItsSecond() {
        var budget = RefusalBudget()
        for _ in 0..<100 { _ = budget.admits("attacker", at: start) }
        #expect(budget.takeSuppressed(at: start + .milliseconds(999)) == nil)
        #expect(budget.takeSuppressed(at: start + .seconds(1)) == 100 - RefusalBudget.perAddressMax)
        #expect(budget.takeSuppressed(at: start + .seconds(2)) == nil)
    }

    @Test func nothingIsToldIfEverythingWasLogged() {
        var budget = RefusalBudget()
        #expect(budget.admits("customer", at: start) == true)
        #expect(budget.takeSuppressed(at: start + .seconds(5)) == nil)
    }
}

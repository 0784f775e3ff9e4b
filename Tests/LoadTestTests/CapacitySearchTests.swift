import Testing

@testable import patchbay_loadtest

struct CapacitySearchTests {
    /// Searches a gateway with a capacity of exactly `capacity` calls.
    private func search(from first: Int, capacity: Int, maximum: Int = 20_000) -> (outcome: CapacitySearch.Outcome?, attempts: Int) {
        var search = CapacitySearch(from: first, maximum: maximum)
        for attempts in 0..<100 {
            switch search.step {
            case .over(let outcome): return (outcome, attempts)
            case .attempt(let calls): search.record(calls <= capacity ? .good : .bad("p99 was 31 ms"))
            }
        }
        return (nil, 100)
    }

    @Test(arguments: [1, 2, 37, 412, 1_999]) func searchFindsTheCapacityWithinFourPercent(capacity: Int) throws {
        let (outcome, attempts) = search(from: 50, capacity: capacity)
        let found = try #require(outcome?.calls)
        #expect(found <= capacity)
        #expect(Double(found) >= Double(capacity) * 0.95 - 1)
        #expect(outcome?.limit?.contains("p99 was 31 ms") == true)
        #expect(outcome?.wasGenerator == false)
        #expect(attempts < 45)
    }

    @Test func singleFailuresAreRetried() {
        var search = CapacitySearch(from: 100, maximum: 100)
        search.record(.bad("a disturbance"))
        #expect(search.step == .attempt(calls: 100))
        search.record(.good)
        #expect(search.step == .over(CapacitySearch.Outcome(calls: 100, limit: nil, wasGenerator: false)))
    }

    @Test func failingGatewaysHaveNoCapacity() {
        let outcome = search(from: 100, capacity: 0).outcome
        #expect(outcome?.calls == nil)
        #expect(outcome?.limit == "at 1 calls p99 was 31 ms")
    }

    @Test func searchStopsAtTheMaximum() {
        let outcome = search(from: 100, capacity: .max, maximum: 700).outcome
        #expect(outcome == CapacitySearch.Outcome(calls: 700, limit: nil, wasGenerator: false))
    }

    @Test func slowGeneratorsAreDetected() {
        var search = CapacitySearch(from: 100)
        while case .attempt(let calls) = search.step { search.record(calls <= 150 ? .good : .generatorBehind) }
        guard case .over(let outcome) = search.step else { return }
        #expect(outcome.wasGenerator)
        #expect(outcome.limit?.contains("generator") == true)
        #expect((outcome.calls ?? 0) >= 144)
    }
}

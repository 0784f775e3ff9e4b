import Testing

@testable import patchbay_loadtest

struct GridTests {
    @Test func positionsAreEvenlySpacedAndRoundsDoNotDrift() {
        var grid = Grid(start: 1_000, interval: 20_000_000, positions: 3)
        var dues: [UInt64] = []
        for _ in 0..<7 {
            dues.append(grid.due - 1_000)
            grid.advance()
        }
        #expect(dues == [0, 6_666_666, 13_333_333, 20_000_000, 26_666_666, 33_333_333, 40_000_000])
        for _ in 0..<3_000_000 { grid.advance() }
        #expect(grid.due == 1_000 + 20_000_000 * grid.round + 6_666_666)
    }

    @Test func skippingContinuesWithTheNextRound() {
        var grid = Grid(start: 0, interval: 20, positions: 2)
        grid.advance()
        let skipped = grid.skip(to: 105)
        #expect(grid.due == 120)
        #expect(grid.round == 6)
        #expect(grid.position == 0)
        #expect(skipped == 11)
    }
}

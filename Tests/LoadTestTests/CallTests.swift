import Engine
import Testing
import Wire

@testable import patchbay_loadtest

struct CallTests {
    private func call(bargeIn: Double = 0) -> Call {
        var scenario = Scenario()
        scenario.pattern = .conversation
        scenario.bargeInShare = bargeIn
        var call = Call()
        call.phase = .talking
        call.beginTalking(scenario, random: SplitMix64(seed: 5), round: 100, at: 0)
        return call
    }

    /// A call may begin one round after the round being sent.
    @Test func callsAreSilentBeforeTheirFirstRound() {
        var call = call()
        call.advance(to: 99)
        #expect(call.talks(0) == (false, false))
        #expect(call.talks(1) == (false, false))
    }

    @Test func nextRoundIsKnownInAdvance() {
        var call = call()
        for round in 101..<5_000 as Range<UInt64> {
            let ahead = (call.next.user, call.next.assistant)
            call.advance(to: round)
            #expect((call.now.user, call.now.assistant) == ahead)
        }
    }

    @Test func yieldingAssistantSendsNoFurtherFrame() throws {
        var call = call(bargeIn: 1)
        var round: UInt64 = 100
        repeat {
            round += 1
            call.advance(to: round)
        } while !call.now.isBargeIn && round < 100_000
        try #require(call.now.isBargeIn)
        call.assistantYields()
        #expect(!call.talks(1).next)
    }

    @Test func endingCallIsSilent() {
        var call = Call()
        call.phase = .ending
        #expect(call.talks(0) == (false, false))
    }
}

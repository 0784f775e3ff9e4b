import Testing
import Wire

@testable import patchbay_loadtest

struct ConversationTests {
    /// Shares of the states, sampled every 20 ms.
    private struct Statistics {
        var both = 0.0
        var nobody = 0.0
        var user = 0.0
        var assistant = 0.0
        /// Mean length in seconds.
        var talkspurt = 0.0
    }

    private func talk(calls: Int, seconds: Int, seed: UInt64) -> Statistics {
        var statistics = Statistics()
        var spurts = 0.0
        let ticks = seconds * 50
        for call in 0..<calls {
            var conversation = Conversation(random: SplitMix64(seed: seed, index: call))
            var wasTalking = false
            for tick in 0..<ticks {
                conversation.advance(to: Double(tick) * 20)
                statistics.both += conversation.speaking == .both ? 1 : 0
                statistics.nobody += conversation.speaking == .nobody ? 1 : 0
                statistics.user += conversation.userTalks ? 1 : 0
                statistics.assistant += conversation.assistantTalks ? 1 : 0
                spurts += conversation.userTalks && !wasTalking ? 1 : 0
                wasTalking = conversation.userTalks
            }
        }
        let all = Double(calls * ticks)
        statistics.talkspurt = statistics.user / spurts * 0.02
        statistics.both /= all
        statistics.nobody /= all
        statistics.user /= all
        statistics.assistant /= all
        return statistics
    }

    /// The model of P.59 solved by hand: a cycle of 854 + 0.4 × 226 + 0.6 × 456 ms has 7.4 % double talk and 22.5 % mutual silence.
    @Test(arguments: [1, 2, 3] as [UInt64]) func stateSharesMatchP59(seed: UInt64) {
        let talk = talk(calls: 200, seconds: 300, seed: seed)
        #expect(abs(talk.both - 0.074) < 0.003)
        #expect(abs(talk.nobody - 0.2246) < 0.005)
        #expect(abs(talk.user - 0.425) < 0.008)
        #expect(abs(talk.assistant - 0.425) < 0.008)
        #expect(talk.talkspurt > 0.9 && talk.talkspurt < 1.4)
    }

    @Test func equalSeedsProduceEqualConversations() {
        #expect(talk(calls: 3, seconds: 60, seed: 7).user == talk(calls: 3, seconds: 60, seed: 7).user)
        #expect(talk(calls: 3, seconds: 60, seed: 7).user != talk(calls: 3, seconds: 60, seed: 8).user)
    }

    @Test func yieldingAssistantStopsAndUserContinues() throws {
        var conversation = Conversation(random: SplitMix64(seed: 1), bargeInShare: 1)
        var time = 0.0
        while !conversation.isBargeIn, time < 1_000_000 {
            time += 1
            conversation.advance(to: time)
        }
        try #require(conversation.speaking == .both)
        conversation.assistantYields(at: time)
        #expect(conversation.userTalks)
        #expect(!conversation.assistantTalks)
        #expect(!conversation.isBargeIn)
    }

    @Test func bargeInShareOfZeroProducesNoBargeIns() {
        var conversation = Conversation(random: SplitMix64(seed: 1))
        for time in 0..<100_000 {
            conversation.advance(to: Double(time))
            #expect(!conversation.isBargeIn)
        }
    }
}

import Testing

@testable import patchbay_loadtest

struct EModelTests {
    /// G.107: with default parameters R is 93.2 and the MOS 4.41; delays up to 100 ms have no effect.
    @Test(arguments: [0, 50, 100]) func scoreIsBestWithoutDelayAndLoss(delay: Double) {
        let model = EModel(delay: delay, lossPercent: 0)
        #expect(model.rating == 93.2)
        #expect(abs(model.meanOpinionScore - 4.41) < 0.005)
    }

    /// Idd by the formula of clause 7.4, calculated by hand.
    @Test(arguments: zip([200, 400], [3.04, 24.07])) func delayImpairmentFollowsClause74(delay: Double, impairment: Double) {
        #expect(abs(EModel(delay: delay, lossPercent: 0).delayImpairment - impairment) < 0.02)
    }

    @Test func lossAtBplCostsHalfOfTheMaximum() {
        #expect(EModel(delay: 0, lossPercent: EModel.opusLossRobustness).equipmentImpairment == 47.5)
        #expect(EModel(delay: 0, lossPercent: 0).equipmentImpairment == 0)
    }

    /// Annex B: R 60 is an MOS of 3.1, R 50 one of 2.6.
    @Test func scoresFollowAnnexB() {
        #expect(abs(score(at: 60) - 3.10) < 0.01)
        #expect(abs(score(at: 50) - 2.58) < 0.01)
        #expect(EModel(delay: 3_000, lossPercent: 90).meanOpinionScore == 1)
    }

    private func score(at rating: Double) -> Double {
        // The loss that reduces R to `rating`.
        let impairment = EModel.bestRating - rating
        return EModel(delay: 0, lossPercent: EModel.opusLossRobustness * impairment / (95 - impairment)).meanOpinionScore
    }
}

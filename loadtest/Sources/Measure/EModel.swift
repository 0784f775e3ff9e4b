internal import Foundation

/// Estimates conversational quality with the E-model of ITU-T G.107; parameters that a gateway does not affect have their defaults.
///
/// R = R0 - Is - Id - Ie,eff. A planning estimate, not a measurement of audio.
struct EModel: Sendable, Hashable {
    /// R0 - Is with all parameters at their defaults (G.107 clause 7.7).
    static let bestRating = 93.2
    /// Equipment impairment (Ie) and loss robustness (Bpl) of Opus. G.113 has no values for Opus; assumed is a codec without impairment of
    /// its own that conceals loss less well than G.711 with appendix I (Bpl 25.1).
    static let opusImpairment = 0.0
    static let opusLossRobustness = 10.0

    /// One way, mouth to ear, in milliseconds.
    var delay: Double
    /// 0…100; random loss (BurstR 1).
    var lossPercent: Double

    /// R, 0…100.
    var rating: Double { min(100, max(0, Self.bestRating - delayImpairment - equipmentImpairment)) }

    /// Id: the delay impairment Idd (clause 7.4); echo is assumed to be cancelled.
    var delayImpairment: Double {
        guard delay > 100 else { return 0 }
        let x = log2(delay / 100)
        return 25 * (pow(1 + pow(x, 6), 1.0 / 6) - 3 * pow(1 + pow(x / 3, 6), 1.0 / 6) + 2)
    }

    /// Ie,eff (clause 7.5).
    var equipmentImpairment: Double {
        Self.opusImpairment + (95 - Self.opusImpairment) * lossPercent / (lossPercent + Self.opusLossRobustness)
    }

    /// Mean opinion score, 1…4.5 (G.107 annex B).
    var meanOpinionScore: Double {
        let r = rating
        if r <= 0 { return 1 }
        if r >= 100 { return 4.5 }
        return max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
    }
}

/// Assumed delays outside the gateway; the network path is assumed to have none.
enum AssumedPlayout {
    /// A frame is sent when its 20 ms are complete.
    static let packetisation = 20.0
    /// Algorithmic delay of Opus beyond the frame.
    static let lookahead = 6.5
    /// Delay of the jitter buffer beyond the median; later frames count as lost.
    static let jitterBuffer = 40.0

    static func quality(medianMilliseconds: Double, lossPercent: Double) -> EModel {
        EModel(delay: packetisation + lookahead + jitterBuffer + medianMilliseconds, lossPercent: lossPercent)
    }
}

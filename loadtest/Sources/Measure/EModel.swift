internal import Foundation

/// How a call is likely to be judged: the E-model of ITU-T G.107, with its defaults for all that a gateway does not change.
///
/// R = R0 - Is - Id - Ie,eff. An estimate for planning, not a measurement of sound.
struct EModel: Sendable, Hashable {
    /// R0 - Is with all parameters at their defaults (G.107 clause 7.7).
    static let bestRating = 93.2
    /// Equipment impairment of Opus without loss, and how well it conceals loss. G.113 has no figures for Opus; assumed is a codec that
    /// impairs nothing itself and conceals less well than G.711 with its appendix I (Bpl 25.1).
    static let opusImpairment = 0.0
    static let opusLossRobustness = 10.0

    /// One way, mouth to ear, in milliseconds.
    var delay: Double
    /// 0…100; at random (BurstR 1).
    var lossPercent: Double

    /// R, 0…100.
    var rating: Double { min(100, max(0, Self.bestRating - delayImpairment - equipmentImpairment)) }

    /// Id: only what delay itself does (Idd, clause 7.4); echo is taken to be cancelled.
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

/// Where delay comes from outside the gateway, so that a rating can be given at all. The path between is taken to cost nothing.
enum AssumedPlayout {
    /// A frame is sent when its 20 ms are over.
    static let packetisation = 20.0
    /// Opus looks 6.5 ms ahead.
    static let lookahead = 6.5
    /// What a jitter buffer holds back beyond the median; later frames are lost for the ear.
    static let jitterBuffer = 40.0

    static func quality(medianMilliseconds: Double, lossPercent: Double) -> EModel {
        EModel(delay: packetisation + lookahead + jitterBuffer + medianMilliseconds, lossPercent: lossPercent)
    }
}

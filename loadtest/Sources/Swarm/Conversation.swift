internal import Foundation
import Wire

/// Decides which of two parties speaks: the artificial conversational speech of ITU-T P.59 (03/93).
///
/// Four states with exponentially distributed durations. Single talk is followed by mutual silence (60 %) or double talk (40 %); both are
/// followed by single talk of either party with equal probability. The result is 22.5 % mutual silence (measured conversations in the
/// recommendation: 22.5 %), 7.4 % double talk (6.6 %) and 42.5 % talk per party (38.5 %).
///
/// Beyond P.59, the user may interrupt the assistant, which stops when it receives the interruption (`assistantYields`).
struct Conversation: Sendable {
    enum Speaking: Sendable, Hashable {
        case nobody, user, assistant, both
    }

    /// Mean durations of the states, in milliseconds (P.59).
    static let singleTalkMean = 854.0
    static let doubleTalkMean = 226.0
    static let mutualSilenceMean = 456.0
    /// Probability that mutual silence follows single talk; otherwise double talk does.
    static let silenceAfterSingleTalk = 0.6

    private(set) var speaking: Speaking
    /// Both speak because the user interrupted an assistant that will stop.
    private(set) var isBargeIn = false
    /// When this state ends, in milliseconds since the conversation began.
    private var end: Double
    private let bargeInShare: Double
    private var random: SplitMix64

    /// - Parameter bargeInShare: share of user interruptions that stop the assistant, 0…1.
    init(random: SplitMix64, bargeInShare: Double = 0) {
        self.random = random
        self.bargeInShare = bargeInShare
        speaking = .nobody
        end = 0
        end = self.random.exponential(mean: Self.mutualSilenceMean)
    }

    var userTalks: Bool { speaking == .user || speaking == .both }
    var assistantTalks: Bool { speaking == .assistant || speaking == .both }

    /// Advances to `time`, in milliseconds since the conversation began.
    mutating func advance(to time: Double) {
        while end <= time { enter(nextState(), at: end) }
    }

    /// The assistant received the interruption and stops; the user continues.
    mutating func assistantYields(at time: Double) {
        guard speaking == .both else { return }
        enter(.user, at: time)
    }

    private mutating func nextState() -> Speaking {
        switch speaking {
        case .user, .assistant: random.bool(probability: Self.silenceAfterSingleTalk) ? .nobody : .both
        case .nobody: random.bool(probability: 0.5) ? .user : .assistant
        case .both: isBargeIn || random.bool(probability: 0.5) ? .user : .assistant
        }
    }

    private mutating func enter(_ next: Speaking, at time: Double) {
        isBargeIn = next == .both && speaking == .assistant && random.bool(probability: bargeInShare)
        speaking = next
        let mean =
            switch next {
            case .nobody: Self.mutualSilenceMean
            case .user, .assistant: Self.singleTalkMean
            case .both: Self.doubleTalkMean
            }
        end = time + random.exponential(mean: mean)
    }
}

/// Distributions that conversations draw from; the seed alone determines a run.
extension SplitMix64 {
    /// An independent generator for item `index` of those that share a seed.
    init(seed: UInt64, index: Int) {
        var mixer = SplitMix64(seed: seed &+ UInt64(bitPattern: Int64(index)) &* 0xd134_2543_de82_ef95)
        self.init(seed: mixer.next())
    }

    /// A number in 0..<1.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    mutating func bool(probability: Double) -> Bool {
        unit() < probability
    }

    /// An exponentially distributed number, in the unit of `mean`.
    mutating func exponential(mean: Double) -> Double {
        -mean * log(1 - unit())
    }
}

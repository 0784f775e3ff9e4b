import Wire

/// Who of two speaks when: the generator of artificial conversational speech of ITU-T P.59 (03/93).
///
/// Four states; each stay is exponential. From one who speaks alone the way leads to mutual silence (60 %) or double talk (40 %),
/// from both of these to either party alone, with equal chance. That gives 22.5 % mutual silence (the recommendation's table of measured
/// conversations: 22.5 %), 7.4 % double talk (6.6 %) and 42.5 % of the time for each party (38.5 %).
///
/// Beyond P.59 the user may break in on the assistant, which then gives way as soon as it hears (`assistantYields`).
struct Conversation: Sendable {
    enum Speaking: Sendable, Hashable {
        case nobody, user, assistant, both
    }

    /// Mean stays, in milliseconds (P.59, durations of the states of the model).
    static let singleTalkMean = 854.0
    static let doubleTalkMean = 226.0
    static let mutualSilenceMean = 456.0
    /// From single talk to mutual silence; otherwise to double talk.
    static let silenceAfterSingleTalk = 0.6

    private(set) var speaking: Speaking
    /// Both speak, because the user broke in, and the assistant is one that gives way.
    private(set) var isBargeIn = false
    /// When this state ends, in milliseconds since the conversation began.
    private var end: Double
    private let bargeInShare: Double
    private var chance: SplitMix64

    /// - Parameter bargeInShare: how many of the user's interruptions make the assistant stop, 0…1.
    init(chance: SplitMix64, bargeInShare: Double = 0) {
        self.chance = chance
        self.bargeInShare = bargeInShare
        speaking = .nobody
        end = 0
        end = self.chance.exponential(mean: Self.mutualSilenceMean)
    }

    var userTalks: Bool { speaking == .user || speaking == .both }
    var assistantTalks: Bool { speaking == .assistant || speaking == .both }

    /// Goes on to `time`, in milliseconds since the conversation began.
    mutating func advance(to time: Double) {
        while end <= time { enter(following(), at: end) }
    }

    /// The assistant has heard that it was interrupted and falls silent; the user goes on.
    mutating func assistantYields(at time: Double) {
        guard speaking == .both else { return }
        enter(.user, at: time)
    }

    private mutating func following() -> Speaking {
        switch speaking {
        case .user, .assistant: chance.chance(Self.silenceAfterSingleTalk) ? .nobody : .both
        case .nobody: chance.chance(0.5) ? .user : .assistant
        case .both: isBargeIn || chance.chance(0.5) ? .user : .assistant
        }
    }

    private mutating func enter(_ next: Speaking, at time: Double) {
        isBargeIn = next == .both && speaking == .assistant && chance.chance(bargeInShare)
        speaking = next
        let mean =
            switch next {
            case .nobody: Self.mutualSilenceMean
            case .user, .assistant: Self.singleTalkMean
            case .both: Self.doubleTalkMean
            }
        end = time + chance.exponential(mean: mean)
    }
}

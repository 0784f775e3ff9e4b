package import Wire

/// The reported state of an agent: the announced one, corrected by playout.
///
/// An agent that publishes ahead of the clock does not know when its first and last word play. `speaking` is reported when playout
/// starts and ends with it; states announced in between are reported afterwards. Without an `ahead` track the announced state is used.
package struct AgentActivity: Sendable {
    private var announced: AgentState?
    private var isPlaying = false
    /// When an announced `speaking` without playout is reported all the same.
    package private(set) var deadline: Instant?

    package init() {}

    /// The state to report now, nil if that must wait.
    ///
    /// - Parameter playsAhead: whether it publishes an `ahead` track.
    package mutating func announce(_ state: AgentState, playsAhead: Bool, at now: Instant) -> AgentState? {
        announced = state
        guard !isPlaying else { return nil }
        guard state == .speaking, playsAhead else {
            deadline = nil
            return state
        }
        deadline = deadline ?? now + Limits.speakingUnplayedMax
        return nil
    }

    /// Playout has started.
    package mutating func playoutStarted() -> AgentState {
        (announced, isPlaying, deadline) = (.speaking, true, nil)
        return .speaking
    }

    /// Playout has ended. Without another announcement the agent listens.
    package mutating func playoutEnded() -> AgentState? {
        guard isPlaying else { return nil }
        isPlaying = false
        if announced == .speaking { announced = .listening }
        return announced
    }

    package mutating func check(at now: Instant) -> AgentState? {
        guard let deadline, deadline <= now else { return nil }
        self.deadline = nil
        return announced
    }
}

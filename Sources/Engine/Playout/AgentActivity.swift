package import Wire

/// The reported state of an agent: what it announces, corrected by playout.
///
/// An agent that publishes ahead of the clock does not know when its first and last word play. `speaking` is reported when playout
/// starts and ends with it; states announced in between are reported afterwards. An agent without an `ahead` track is believed.
package struct AgentActivity: Sendable {
    private var said: AgentState?
    private var isHeard = false
    /// When an announced `speaking` without playout is reported all the same.
    package private(set) var deadline: Instant?

    package init() {}

    /// The state to report now, nil if that must wait.
    ///
    /// - Parameter playsAhead: whether it publishes an `ahead` track.
    package mutating func say(_ state: AgentState, playsAhead: Bool, at now: Instant) -> AgentState? {
        said = state
        guard !isHeard else { return nil }
        guard state == .speaking, playsAhead else {
            deadline = nil
            return state
        }
        deadline = deadline ?? now + Limits.speakingUnheardMax
        return nil
    }

    /// Playout has started.
    package mutating func beHeard() -> AgentState {
        (said, isHeard, deadline) = (.speaking, true, nil)
        return .speaking
    }

    /// Playout has ended. Without another announcement the agent listens.
    package mutating func fallSilent() -> AgentState? {
        guard isHeard else { return nil }
        isHeard = false
        if said == .speaking { said = .listening }
        return said
    }

    package mutating func check(at now: Instant) -> AgentState? {
        guard let deadline, deadline <= now else { return nil }
        self.deadline = nil
        return said
    }
}

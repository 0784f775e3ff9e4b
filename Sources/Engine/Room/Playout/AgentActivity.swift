package import Wire

/// What an assistant is told to be doing: what it says, corrected by what is heard.
///
/// An assistant that speaks ahead of the clock knows neither when its first word is heard nor when its last is. So `speaking` is told when
/// its playout begins, and over when it ends; what the assistant says in between is told then. One that plays nothing ahead is believed.
package struct AgentActivity: Sendable {
    private var said: AgentState?
    private var isHeard = false
    /// When a `speaking` that nothing was heard of is told all the same.
    package private(set) var deadline: Instant?

    package init() {}

    /// What is to be told now, nil if that must wait.
    ///
    /// - Parameter playsAhead: it publishes an `ahead` track.
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

    /// Its playout begins.
    package mutating func beHeard() -> AgentState {
        (said, isHeard, deadline) = (.speaking, true, nil)
        return .speaking
    }

    /// Nothing of it plays any more. Without another word of its own it listens from now on.
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

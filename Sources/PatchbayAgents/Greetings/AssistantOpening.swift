internal import Wire

/// The greeting and the onboarding of a call, each spoken at most once: the greeting to the first user, the onboarding when a user's client
/// requests it. A pure value.
struct AssistantOpening: Sendable, Hashable {
    private enum Onboarding: Hashable {
        case notAsked
        /// Asked for, and waiting until nobody speaks.
        case waiting
        case speaking(TurnID)
        case over(completed: Bool)
    }

    /// The greeting of this call, with `{name}`; nil if there is none, or if it was spoken.
    private var greeting: String?
    /// The sentences of the onboarding.
    let onboardingSentences: [String]
    private var onboarding = Onboarding.notAsked

    /// - Parameter greeting: one of the definition's.
    init(greeting: String?, onboarding: [String]) {
        self.greeting = greeting
        onboardingSentences = onboarding.flatMap(AssistantGreeting.sentences)
    }

    // MARK: Greeting

    /// The sentences of the greeting; empty if there is none, or if it was taken before.
    mutating func takeGreeting(for userName: String) -> [String] {
        greeting.take().map { AssistantGreeting.sentences(of: $0, userName: userName) } ?? []
    }

    mutating func omitGreeting() {
        greeting = nil
    }

    // MARK: Onboarding

    /// Whether the onboarding should begin as soon as nobody speaks.
    var needsOnboardingTurn: Bool { onboarding == .waiting }

    /// A user's client asks for the onboarding.
    ///
    /// - Returns: the answer, if there is nothing to wait for.
    mutating func requestOnboarding() -> AssistantMessage? {
        switch onboarding {
        case .notAsked:
            onboarding = onboardingSentences.isEmpty ? .over(completed: false) : .waiting
            return answer
        case .waiting, .speaking, .over: return answer
        }
    }

    mutating func beginOnboarding(_ turn: TurnID) {
        onboarding = .speaking(turn)
    }

    /// A turn has ended.
    ///
    /// - Parameter completed: everything was played.
    /// - Returns: the answer to the request for the onboarding, if it was this turn.
    mutating func ended(_ turn: TurnID, completed: Bool) -> AssistantMessage? {
        guard onboarding == .speaking(turn) else { return nil }
        onboarding = .over(completed: completed)
        return answer
    }

    private var answer: AssistantMessage? {
        if case .over(let completed) = onboarding { .onboardingFinished(completed: completed) } else { nil }
    }
}

/// Greetings are templates: `{name}` stands for the user's name.
enum AssistantGreeting {
    /// The sentences of a greeting, each to be synthesized on its own, so that the first one is soon heard and those without the name are the
    /// same in all calls.
    static func sentences(of template: String, userName: String) -> [String] {
        sentences(of: template).map { text(of: $0, userName: userName) }.filter { $0.contains { $0.isLetter || $0.isNumber } }
    }

    static func sentences(of text: String) -> [String] {
        var splitter = SentenceSplitter()
        return splitter.append(text) + splitter.finish()
    }

    /// Without a name, `{name}` disappears together with the comma before it.
    static func text(of template: String, userName: String) -> String {
        if !userName.isEmpty { return template.replacing("{name}", with: userName) }
        return template.replacing(", {name}", with: "").replacing(" {name}", with: "").replacing("{name}", with: "")
    }
}

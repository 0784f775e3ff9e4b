internal import Wire

/// The state of a conversation: who is there, what was said and shown, and what each turn in progress adds to it. A pure value.
struct Dialogue: Sendable {
    var attendance = Attendance()
    /// The greeting and the onboarding.
    var opening: AssistantOpening
    /// The conversation before this pipeline joined.
    var past = PastConversation()
    var log = ConversationLog()
    /// Turns that were begun and are not in the log yet.
    var records: [TurnID: TurnRecord] = [:]
    var stopwatches: [TurnID: TurnStopwatch] = [:]
    var transcripts = TranscriptRevisions()
    var cards = AssistantCards()
    /// The call ends when everything of this turn was spoken.
    var endsAfter: TurnID?

    init(opening: AssistantOpening) {
        self.opening = opening
    }
}

/// The users in a room, and since when there is none. A pure value.
struct Attendance: Sendable, Hashable {
    private(set) var users: Set<Identity> = []
    /// When the last user left; nil while a user is there, and before the first one has come.
    private(set) var emptySince: Instant?

    mutating func join(_ user: Identity) {
        users.insert(user)
        emptySince = nil
    }

    mutating func leave(_ user: Identity, at now: Instant) {
        users.remove(user)
        if users.isEmpty { emptySince = now }
    }
}

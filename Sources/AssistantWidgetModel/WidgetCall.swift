/// The conversation within a call: assistant, microphone, transcript, cards, introduction.
public struct WidgetCall: Sendable, Hashable {
    public enum Phase: String, Sendable {
        case none, connecting, connected, reconnecting
    }

    /// The state that the assistant reports.
    public enum AgentState: String, Sendable {
        case initializing, idle, listening, thinking, speaking, error
    }

    public struct Agent: Sendable, Hashable {
        public var identity: String
        public var name: String
        public var state: AgentState
        /// Whether its connection is lost and may be resumed.
        public var isAway: Bool
    }

    /// The reason why there is no assistant.
    public enum Absence: String, Sendable {
        case missing
        /// It may still be in the room, but has been disconnected for too long.
        case lost
        case left
    }

    public struct Microphone: Sendable, Hashable {
        public enum State: String, Sendable {
            case off
            /// The system will ask for permission; the widget explains this first.
            case unasked
            case asking
            /// The system's permission prompt is open.
            case prompted
            case on, failed
        }

        public var state = State.off
        var promptAt: Int?
        /// The code of a failure, such as `permission_denied`.
        public var code: String?
        public var message = ""
        public var isMuted = false
    }

    /// A card from the assistant, or the widget's own card for a tool that failed.
    public struct Card: Sendable, Hashable, Identifiable {
        public enum Status: String, Sendable {
            case open, sending, refused
        }

        public var id: String
        public var kind: String
        public var title: String
        public var body: String
        /// The ids of the actions.
        public var actions: [String]
        public var isOwn = false
        public var status = Status.open

        public init(id: String, kind: String, title: String, body: String, actions: [String]) {
            self.id = id
            self.kind = kind
            self.title = title
            self.body = body
            self.actions = actions
        }
    }

    public enum Onboarding: String, Sendable {
        case none, wanted, asked, done
    }

    public struct Tool: Sendable, Hashable, Identifiable {
        public var id: String
        public var name: String
    }

    public var phase = Phase.none
    /// The user's identity in the room.
    public var identity = ""
    public var startedAt: Int?
    /// The assistant in the room, if any.
    public var agent: Agent?
    /// The time at which waiting for an assistant, or for its return, becomes an absence.
    var agentDueAt: Int?
    public var absence: Absence?
    /// The reason why a requested assistant has not joined yet: `busy` or `no_worker`.
    public var wait: String?
    public var microphone = Microphone()
    /// Whether the user continues without a microphone.
    public var isTyping = false
    /// The reason why nothing can be played, such as `no_output`.
    public var soundBlockage: String?
    public var isRecorded = false
    /// Whether the user is being asked, before the call, whether conversations are kept.
    public var isConsentAsked = false
    /// Whether this conversation is logged.
    public var isLogged = false
    /// The time at which the gateway closes the call, in milliseconds; nil if it does not.
    public var closesAt: Int?
    /// The message of a refused request.
    public var refusal: String?
    public var transcript = WidgetTranscript()
    /// The tools that are running.
    public var tools: [Tool] = []
    public var cards: [Card] = []
    public var onboarding = Onboarding.none
    /// The texts to send once the assistant has joined.
    public internal(set) var pendingTexts: [String] = []
    /// The number of lines that the widget itself has added.
    private var ownLines = 0

    /// The number of cards to show; older ones are removed.
    static let cardsMax = 8
    static let pendingTextsMax = 8

    /// Whether a text is kept until there is an assistant. After one has left, no other joins.
    public var canQueue: Bool { agent == nil && absence != .left && pendingTexts.count < Self.pendingTextsMax }

    mutating func addLine(_ kind: TranscriptItem.Kind, name: String = "", _ text: String, at now: Int) {
        ownLines += 1
        transcript.append(TranscriptItem(id: "own-\(ownLines)", at: now, kind: kind, name: name, text: text))
    }

    mutating func show(_ card: Card) {
        if let index = cards.firstIndex(where: { $0.id == card.id }) {
            cards[index] = card
        } else {
            cards = Array((cards + [card]).suffix(Self.cardsMax))
        }
    }

    mutating func setStatus(_ status: Card.Status, of id: String) {
        for index in cards.indices where cards[index].id == id { cards[index].status = status }
    }
}

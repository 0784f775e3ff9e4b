/// The conversation within a call: assistant, microphone, transcript, cards, introduction.
public struct WidgetCall: Sendable, Hashable {
    public enum Phase: String, Sendable {
        case none, connecting, connected, reconnecting
    }

    /// What the assistant says that it does.
    public enum AgentState: String, Sendable {
        case initializing, idle, listening, thinking, speaking, error
    }

    public struct Agent: Sendable, Hashable {
        public var identity: String
        public var name: String
        public var state: AgentState
        /// Its connection is lost and may be resumed.
        public var isAway: Bool
    }

    /// Why there is no assistant.
    public enum Absence: String, Sendable {
        case missing
        /// Perhaps still in the room, but away for long.
        case lost
        case left
    }

    public struct Microphone: Sendable, Hashable {
        public enum State: String, Sendable {
            case off
            /// The system will ask its user, who is told first.
            case unasked
            case asking
            /// The system waits for its user.
            case prompted
            case on, failed
        }

        public var state = State.off
        var promptAt: Int?
        /// Of a failure, such as `permission_denied`.
        public var code: String?
        public var message = ""
        public var isMuted = false
    }

    /// A card of the assistant, or the widget's own for a tool that failed.
    public struct Card: Sendable, Hashable, Identifiable {
        public enum Status: String, Sendable {
            case open, sending, refused
        }

        public var id: String
        public var kind: String
        public var title: String
        public var body: String
        /// Their ids.
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
    /// The user's in the room.
    public var identity = ""
    public var startedAt: Int?
    /// Nil while there is none in the room.
    public var agent: Agent?
    /// When the wait for an assistant, or for its return, becomes an absence.
    var agentDueAt: Int?
    public var absence: Absence?
    /// Why an assistant that was asked for does not come yet: `busy` or `no_worker`.
    public var wait: String?
    public var microphone = Microphone()
    /// Whether the user goes on without a microphone.
    public var isTyping = false
    /// Why nothing can be played, such as `no_output`.
    public var soundBlockage: String?
    public var isRecorded = false
    /// When the gateway will close the call, in milliseconds; nil if it will not.
    public var closesAt: Int?
    /// The sentence of a request that was refused.
    public var refusal: String?
    public var transcript = WidgetTranscript()
    /// Tools that run.
    public var tools: [Tool] = []
    public var cards: [Card] = []
    public var onboarding = Onboarding.none
    /// What is sent once the assistant is there.
    var pendingText: String?
    /// Lines of the widget's own so far.
    private var ownLines = 0

    /// Older cards disappear.
    static let cardsMax = 8

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

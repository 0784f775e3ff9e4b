/// A data message between an assistant and its user, beside speech: progress of tools, cards and the user's answers to them, metrics of
/// turns, the onboarding (docs/protocol/assistants.md, "Messages between assistant and user"). Sent with `data.send` and the topic
/// `AssistantMessage.topic`.
public enum AssistantMessage: Sendable, Hashable {
    /// `id` identifies the call of the tool in all its messages.
    case toolStarted(id: String, name: String)
    case toolFinished(id: String, name: String)
    /// `message` is for the user. `retry`: whether the same call may succeed later.
    case toolFailed(id: String, name: String, message: String, retry: Bool)
    /// Shows a card, or replaces the one with its id.
    case card(AssistantCard)
    /// How long the stages of a turn took, once it has ended.
    case turnMetrics(TurnMetrics)
    /// From the user.
    case cardAction(CardAction)
    /// From the user's client: play the onboarding as soon as nobody speaks.
    case onboardingStart
    /// The answer to `onboardingStart`, once the onboarding is over. `completed`: it was played to its end.
    case onboardingFinished(completed: Bool)
    /// Sent at the start of a conversation if the assistant cannot speak or understand the language that the user has chosen.
    case languageLimited(LanguageLimit)

    public static let topic = "patchbay.assistant"

    /// Of a message's JSON, in bytes.
    public static let bytesMax = ProtocolLimits.dataBytesMax

    /// Limits of the fields, in bytes unless the name says otherwise.
    public enum Limits {
        public static let idMax = 128
        public static let nameMax = 64
        public static let messageMax = 1_024
        public static let titleMax = 256
        public static let bodyMax = 32 << 10
        public static let actionsCountMax = 8
        public static let fieldsCountMax = 32
        public static let fieldNameMax = 64
        public static let fieldMax = 32 << 10
    }
}

/// The languages of a conversation whose assistant does not fully support the chosen one, as BCP 47 tags.
public struct LanguageLimit: Sendable, Hashable {
    /// The language that the user has chosen.
    public var language: String
    /// The language in which the assistant responds.
    public var spoken: String
    /// The language that the assistant understands in speech. It may read others.
    public var understood: String

    public init(language: String, spoken: String, understood: String) {
        self.language = language
        self.spoken = spoken
        self.understood = understood
    }
}

/// Something that a client shows beside the conversation.
public struct AssistantCard: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A text to be reviewed before it is sent, such as an e-mail.
        case draft
        case error, info
    }

    /// A button. The id is the assistant's choice, for example `edit`, `send` or `retry`.
    public struct Action: Sendable, Hashable {
        public var id: String
        public var title: String

        public init(id: String, title: String) {
            self.id = id
            self.title = title
        }
    }

    public var id: String
    public var kind: Kind
    public var title: String
    public var body: String
    public var actions: [Action]

    public init(id: String, kind: Kind, title: String, body: String = "", actions: [Action] = []) {
        self.id = id
        self.kind = kind
        self.title = title
        self.body = body
        self.actions = actions
    }
}

/// The user's choice on a card.
public struct CardAction: Sendable, Hashable {
    /// The card's id.
    public var card: String
    /// The action's id.
    public var action: String
    /// What the user edited, such as `body`; nil if nothing.
    public var fields: [String: String]?

    public init(card: String, action: String, fields: [String: String]? = nil) {
        self.card = card
        self.action = action
        self.fields = fields
    }
}

/// Why an assistant's message is invalid; for logs and the sender.
public struct AssistantMessageError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// How long the stages of one turn took. Milliseconds; nil for a stage that did not take place.
///
/// Everything is measured by the assistant. The user's voice ends with its last sound louder than −45 dBov, at most 30 dB below the loudest,
/// at the time at which that arrived. For text and digits, it ends when they arrived.
public struct TurnMetrics: Sendable, Hashable, Codable {
    /// Number of the turn in its call.
    public var turn: Int
    /// From the end of the user's voice until the assistant decided that the user had finished, which is the end of the turn.
    public var endOfTurnMs: Int?
    /// Duration of the final recognition, most of which passes before the end of the turn.
    public var recognitionMs: Int?
    /// From the end of the turn to the responder's first text. About 0 if the responder was asked early (`ProviderSettings.askEarly`).
    public var firstTokenMs: Int?
    /// From the end of the turn to the first synthesized audio of the response.
    public var firstAudioMs: Int?
    /// From the end of the user's voice to the first sound of the response, when a client that plays what arrives makes it audible: silence at
    /// the beginning of the synthesized audio counts, a filler before the response does not. Includes
    /// 23 ms for the codec and the client. What the network between user and gateway and the user's devices add is not known to the assistant.
    public var voiceToVoiceMs: Int?
    public var interrupted: Bool

    public init(
        turn: Int, endOfTurnMs: Int? = nil, recognitionMs: Int? = nil, firstTokenMs: Int? = nil, firstAudioMs: Int? = nil,
        voiceToVoiceMs: Int? = nil, interrupted: Bool = false
    ) {
        self.turn = turn
        self.endOfTurnMs = endOfTurnMs
        self.recognitionMs = recognitionMs
        self.firstTokenMs = firstTokenMs
        self.firstAudioMs = firstAudioMs
        self.voiceToVoiceMs = voiceToVoiceMs
        self.interrupted = interrupted
    }
}

extension TurnMetrics {
    /// A part of a turn that is measured, by its name in `/metrics`.
    package enum Stage: String, Sendable, CaseIterable {
        case endOfTurn = "end_of_turn"
        case recognition
        case firstToken = "first_token"
        case firstAudio = "first_audio"
        case voiceToVoice = "voice_to_voice"
    }

    /// Nil if the stage did not take place.
    package func milliseconds(of stage: Stage) -> Int? {
        switch stage {
        case .endOfTurn: endOfTurnMs
        case .recognition: recognitionMs
        case .firstToken: firstTokenMs
        case .firstAudio: firstAudioMs
        case .voiceToVoice: voiceToVoiceMs
        }
    }

    /// The first problem, starting with the field: "`first_token_ms` must be 0 to 3600000". Nil if all values are within their limits.
    package var fault: String? {
        if turn < 0 { return "`turn` must not be negative" }
        let range = 0...ProtocolLimits.turnStageMillisecondsMax
        return Stage.allCases.first { stage in milliseconds(of: stage).map { !range.contains($0) } ?? false }
            .map { "`\($0.rawValue)_ms` must be \(range.lowerBound) to \(range.upperBound)" }
    }
}

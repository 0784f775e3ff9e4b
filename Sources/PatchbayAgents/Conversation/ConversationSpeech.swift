internal import Wire

/// The voice and language that the users of a conversation have chosen.
public struct SpeechPreferences: Sendable, Hashable {
    /// One of `AssistantDefinition.voices`; nil for the assistant's own.
    public var voice: String?
    /// A BCP 47 tag; nil for the assistant's own.
    public var language: String?

    public init(voice: String? = nil, language: String? = nil) {
        self.voice = voice.flatMap { AssistantDefinition.voices.contains($0) ? $0 : nil }
        self.language = language.flatMap { LanguageTag.isValid($0) ? $0 : nil }
    }

    /// Uses the choice of the first user whose attributes contain one, otherwise the session's.
    ///
    /// - Parameter hello: the first message on the assistant's connection.
    init(_ hello: Hello) {
        let users = hello.participants.filter { !$0.kind.isDependent }
        func chosen(_ name: String) -> String? { users.lazy.compactMap { $0.attributes[name] }.first }
        let own = SpeechPreferences(voice: chosen(SpeechAttribute.voice), language: chosen(SpeechAttribute.language))
        let session = SpeechPreferences(voice: hello.session?.voice, language: hello.session?.language)
        (voice, language) = (own.voice ?? session.voice, own.language ?? session.language)
    }
}

/// The languages that engines support, as primary languages (`en`). Nil if unknown, which means any language.
public struct EngineLanguages: Sendable, Hashable {
    /// The languages of responses.
    public var responses: Set<String>?
    /// The languages of the assistant's own phrases.
    public var announcements: Set<String>?
    /// The languages that are recognized.
    public var recognition: Set<String>?

    public init(responses: Set<String>? = nil, announcements: Set<String>? = nil, recognition: Set<String>? = nil) {
        self.responses = responses
        self.announcements = announcements
        self.recognition = recognition
    }

    /// Determines the languages of an assistant's engines: the embedded ones support English only.
    init(of providers: AssistantProviders) {
        let embedded: Set = ["en"]
        announcements = providers.synthesizer == nil ? embedded : nil
        guard providers.realtime == nil else { return }
        responses = providers.synthesizer == nil || providers.responder == nil ? embedded : nil
        recognition = providers.recognizer == nil ? embedded : nil
    }
}

/// The voice and languages of an assistant in one conversation: those that its users have chosen, as far as the engines support
/// them, otherwise English. A pure value.
struct ConversationSpeech: Sendable, Hashable {
    /// The definition with the chosen voice, the language of the responses, and greetings in the language of the announcements.
    let definition: AssistantDefinition
    /// The language that the users speak, as a BCP 47 tag.
    let language: String
    /// The language of the assistant's own phrases, as a BCP 47 tag.
    let announced: String
    /// The limitation to report; nil if the engines support the choice.
    let limit: LanguageLimit?

    private static let fallback = "en"

    init(_ definition: AssistantDefinition, _ preferences: SpeechPreferences, _ engines: EngineLanguages) {
        let wanted = preferences.language ?? definition.language
        let primary = LanguageTag.primary(of: wanted)
        func usable(_ languages: Set<String>?) -> String {
            primary.isEmpty || languages?.contains(primary) ?? true ? wanted : Self.fallback
        }
        language = wanted
        announced = usable(engines.announcements)
        var adapted = definition
        adapted.voice = preferences.voice ?? definition.voice
        adapted.language = usable(engines.responses)
        let greeted = LanguageTag.primary(of: announced)
        let phrased = AssistantPhrases.languages.contains(greeted) ? greeted : Self.fallback
        if !definition.greetings.isEmpty, ![greeted, phrased].contains(LanguageTag.primary(of: definition.language)) {
            adapted.greetings = [AssistantPhrases(language: announced).greeting]
        }
        self.definition = adapted
        let understood = usable(engines.recognition)
        let isLimited = [announced, adapted.language, understood].contains { $0 != wanted }
        limit = isLimited ? LanguageLimit(language: wanted, spoken: adapted.language, understood: understood) : nil
    }

    /// An instruction for the responder, in addition to those of the definition.
    var instruction: String? {
        guard let limit, limit.spoken != limit.language, announced == Self.fallback else { return nil }
        return "Your voice can speak English only: answer in English, whatever the user speaks."
    }

    /// A sentence for the user, after the greeting.
    var notice: String? {
        guard let limit else { return nil }
        let phrases = AssistantPhrases(language: announced)
        if limit.spoken != limit.language { return phrases.speaksOnlyEnglish }
        return limit.understood == limit.language ? nil : phrases.understandsOnlyEnglish
    }
}

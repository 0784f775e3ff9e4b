internal import Wire

/// The voice and the language that the users of a conversation have chosen.
public struct SpeechPreferences: Sendable, Hashable {
    /// One of `AssistantDefinition.voices`; nil is the assistant's.
    public var voice: String?
    /// A BCP 47 tag; nil is the assistant's.
    public var language: String?

    public init(voice: String? = nil, language: String? = nil) {
        self.voice = voice.flatMap { AssistantDefinition.voices.contains($0) ? $0 : nil }
        self.language = language.flatMap { LanguageTag.isValid($0) ? $0 : nil }
    }

    /// What the first user chose whose client says it, otherwise what the session says.
    ///
    /// - Parameter hello: of the assistant's connection.
    init(_ hello: Hello) {
        let users = hello.participants.filter { !$0.kind.isDependent }
        func chosen(_ name: String) -> String? { users.lazy.compactMap { $0.attributes[name] }.first }
        let own = SpeechPreferences(voice: chosen(SpeechAttribute.voice), language: chosen(SpeechAttribute.language))
        let session = SpeechPreferences(voice: hello.session?.voice, language: hello.session?.language)
        (voice, language) = (own.voice ?? session.voice, own.language ?? session.language)
    }
}

/// The languages that engines are limited to, as primary languages (`en`). Nil: unknown, so any.
public struct EngineLanguages: Sendable, Hashable {
    /// Of responses.
    public var responses: Set<String>?
    /// Of what the assistant says on its own.
    public var announcements: Set<String>?
    /// Of what the users say.
    public var recognition: Set<String>?

    public init(responses: Set<String>? = nil, announcements: Set<String>? = nil, recognition: Set<String>? = nil) {
        self.responses = responses
        self.announcements = announcements
        self.recognition = recognition
    }

    /// Those of an assistant's engines: the embedded ones speak and understand English only.
    init(of providers: AssistantProviders) {
        let embedded: Set = ["en"]
        announcements = providers.synthesizer == nil ? embedded : nil
        guard providers.realtime == nil else { return }
        responses = providers.synthesizer == nil || providers.responder == nil ? embedded : nil
        recognition = providers.recognizer == nil ? embedded : nil
    }
}

/// How an assistant speaks in one conversation: in the voice and the language that its users have chosen, as far as its engines can; otherwise in
/// English. A pure value.
struct ConversationSpeech: Sendable, Hashable {
    /// With the voice, the language of the responses, and greetings in the language of the announcements.
    let definition: AssistantDefinition
    /// BCP 47 tag of what the users speak.
    let language: String
    /// BCP 47 tag of what the assistant says on its own.
    let announced: String
    /// Nil if the engines can do what was chosen.
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
        if !definition.greetings.isEmpty, LanguageTag.primary(of: definition.language) != LanguageTag.primary(of: announced) {
            adapted.greetings = [AssistantPhrases(language: announced).greeting]
        }
        self.definition = adapted
        let understood = usable(engines.recognition)
        let isLimited = [announced, adapted.language, understood].contains { $0 != wanted }
        limit = isLimited ? LanguageLimit(language: wanted, spoken: adapted.language, understood: understood) : nil
    }

    /// What the responder is told in addition to its instructions.
    var instruction: String? {
        limit.flatMap { $0.spoken == $0.language ? nil : "Your voice can speak English only: answer in English, whatever the user speaks." }
    }

    /// What the user is told, after the greeting.
    var notice: String? { definition.language != language && announced == Self.fallback ? AssistantPhrases.onlyEnglish : nil }
}
